// SPDX-License-Identifier: Apache-2.0
// The agent over HTTP: server, rights and routes put together. Opened and closed by whoever runs the agent, before its
// first sample and after its last; answers on the server's threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "http/limits.hpp"
#include "http/server.hpp"
#include "http/workers.hpp"
#include "kube/pod_watch.hpp"
#include "serve/access.hpp"
#include "serve/api.hpp"
#include "serve/board.hpp"
#include "serve/metrics_route.hpp"
#include "serve/page.hpp"
#include "serve/routes.hpp"

namespace gpulse::serve {

inline constexpr const char *kDefaultListen = "127.0.0.1:9837";

struct WebOptions {
  std::vector<http::Address> addresses{};
  bool is_asked_for = false;  // the addresses: else it is no error where they cannot be had
  AccessOptions access{};     // this machine's own name is added
  http::TlsFiles tls{};
  http::Limits limits{};
  std::string version{};
  bool process_metrics = false;                  // at /metrics series for processes too
  std::shared_ptr<const kube::PodWatch> pods{};  // null: there is no kubelet
  std::string history{};                         // the file that is kept; empty: none
  std::string base_path{};  // "/gpulse": paths may begin with it, as behind a proxy that leaves it there
  // Whose pages may show ours in a frame.
  std::vector<std::string> frame_origins{};
};

class Web {
 public:
  // Null where nobody has asked for the address, and it cannot be had.
  static Result<std::unique_ptr<Web>> open(WebOptions options, Board &board);
  Web(const Web &) = delete;
  Web &operator=(const Web &) = delete;
  ~Web() = default;

  // Rights, frames and certificates from now on; addresses and limits stay. After an error everything is as it was.
  Result<void> reload(WebOptions options);
  const http::Server &server() const { return *server_; }

 private:
  Web(WebOptions options, Board &board);
  void add_routes();
  void handle(const http::Request &request, const http::Answer &answer);
  void handle_below_base(const http::Request &request, const http::Answer &answer);
  void run(const Route &route, const http::Request &request, const Reader &reader, const http::Answer &answer);

  const WebOptions options_;
  Board &board_;
  // Each ends before those above it, which it uses.
  Routes routes_;
  MetricsRoute metrics_;
  Page page_;
  Api api_;
  http::Workers slow_{2};
  Access access_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace gpulse::serve
