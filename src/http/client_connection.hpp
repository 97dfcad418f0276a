// SPDX-License-Identifier: Apache-2.0
// One connection of a client as bytes, with TLS or without; everything ends with its TimeLimit. Internal to src/http;
// one thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "http/client_tls.hpp"
#include "http/time_limit.hpp"

namespace gpulse::http {

class ClientConnection {
 public:
  static Result<ClientConnection> open(const std::string &host, std::uint16_t port, const TimeLimit &limit);

  Result<void> secure(ClientTls &tls, const ClientOptions &options, const std::string &host, const TimeLimit &limit);
  Result<void> write(std::string_view bytes, const TimeLimit &limit);
  // How many bytes came; 0: the server has ended the connection.
  Result<std::size_t> read(std::span<char> room, const TimeLimit &limit);
  // The server has neither ended it nor sent what nobody asked for.
  bool is_usable() const;

 private:
  ClientConnection(UniqueFd socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

  // What to wait for before the same is tried again; false: it has failed for good.
  bool wait_for_tls(int result, const TimeLimit &limit) const;
  std::unexpected<Error> lost(const TimeLimit &limit) const;

  UniqueFd socket_;
  std::string name_;
  TlsSession tls_;  // goes before the socket
};

// Why something was not done in time.
Error too_late(const std::string &name, const TimeLimit &limit);

}  // namespace gpulse::http
