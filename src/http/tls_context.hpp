// SPDX-License-Identifier: Apache-2.0
// What a TlsContext is made of. Internal to the few files of src/http that use OpenSSL.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "http/tls.hpp"

namespace gpulse::http {

class TlsContext {
 public:
  // Asio's streams want one that can be changed, and do not change it.
  boost::asio::ssl::context &get() const { return context_; }

 private:
  mutable boost::asio::ssl::context context_{boost::asio::ssl::context::tls_server};
};

}  // namespace gpulse::http
