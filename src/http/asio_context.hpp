// SPDX-License-Identifier: Apache-2.0
// What a Loop is made of. Internal to the few files of src/http that use Asio.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "http/loop.hpp"

namespace gpulse::http {

struct Loop::Context {
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays{io.get_executor()};
};

}  // namespace gpulse::http
