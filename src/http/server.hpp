// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 server: takes connections on one thread, which never waits, and asks the handler on a few others. Nothing
// here knows what is asked for. Whoever opens it may use it from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "http/address.hpp"
#include "http/limits.hpp"
#include "http/message.hpp"
#include "http/tls.hpp"

namespace gpulse::http {

struct ServerOptions {
  Limits limits{};
  std::size_t workers = 2;
  std::shared_ptr<const TlsContext> tls{};  // null: plain HTTP
};

class Server {
 public:
  // From here on it answers.
  Server(const ServerOptions &options, std::vector<Listener> listeners, Handler handler);
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;
  // Ends every connection, and waits for handlers that have begun.
  ~Server();

  // For connections from now on.
  void set_tls(std::shared_ptr<const TlsContext> tls);
  // "127.0.0.1:9837"
  std::vector<std::string> addresses() const;

  struct Counts {
    std::size_t connections = 0, streams = 0;
    std::uint64_t requests = 0;
  };
  Counts counts() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpulse::http
