// SPDX-License-Identifier: Apache-2.0
// TLS as a client speaks it: whom it trusts and who it is, from files that are read again when they change. Internal to
// src/http; one thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "http/client.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace gpulse::http {

struct FreeTls {
  void operator()(ssl_ctx_st *context) const noexcept;
  void operator()(ssl_st *session) const noexcept;
};
using TlsSession = std::unique_ptr<ssl_st, FreeTls>;

class ClientTls {
 public:
  // On a connected socket; the handshake is still to be done.
  Result<TlsSession> begin(const ClientOptions &options, const std::string &host, int socket);

 private:
  std::unique_ptr<ssl_ctx_st, FreeTls> context_;
  std::string files_;  // the state of the files that the context was made from
};

// Why a handshake failed, from what OpenSSL has noted on this thread.
Error handshake_error(ssl_st *session, const std::string &name);

}  // namespace gpulse::http
