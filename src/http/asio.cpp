// SPDX-License-Identifier: Apache-2.0
// Asio's own code, compiled once.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
