// SPDX-License-Identifier: Apache-2.0
// A site over HTTP: server, rights, page and routes put together. Opened and closed by whoever runs what it shows,
// before that has anything to show and after it has ended; answers on the server's threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "http/limits.hpp"
#include "http/server.hpp"
#include "http/workers.hpp"
#include "serve/access.hpp"
#include "serve/page.hpp"
#include "serve/routes.hpp"
#include "serve/site.hpp"

namespace gpulse::serve {

inline constexpr const char *kDefaultListen = "127.0.0.1:9837";
// Of a fleet, so that it can stand beside an agent.
inline constexpr const char *kDefaultFleetListen = "127.0.0.1:9838";

struct WebOptions {
  std::vector<http::Address> addresses{};
  bool is_asked_for = false;  // the addresses: else it is no error where they cannot be had
  AccessOptions access{};     // this machine's own name is added
  http::TlsFiles tls{};
  http::Limits limits{};
  std::string version{};
  std::string base_path{};  // "/gpulse": paths may begin with it, as behind a proxy that leaves it there
  // Whose pages may show ours in a frame.
  std::vector<std::string> frame_origins{};
};

class Web {
 public:
  using MakeSite = std::function<std::unique_ptr<Site>()>;
  // Null where nobody has asked for the address, and it cannot be had.
  static Result<std::unique_ptr<Web>> open(WebOptions options, const MakeSite &make_site);
  Web(const Web &) = delete;
  Web &operator=(const Web &) = delete;
  ~Web() = default;

  // Rights, frames and certificates from now on; addresses and limits stay. After an error everything is as it was.
  Result<void> reload(WebOptions options);
  const http::Server &server() const { return *server_; }

 private:
  Web(WebOptions options, std::unique_ptr<Site> site);
  void add_routes();
  void handle(const http::Request &request, const http::Answer &answer);
  void handle_below_base(const http::Request &request, const http::Answer &answer);
  void answer_with(const Route *route, const http::Request &request, const http::Answer &answer);
  void run(const Route &route, const http::Request &request, const Reader &reader, const http::Answer &answer);

  const WebOptions options_;
  // Each ends before those above it, which it uses.
  std::unique_ptr<Site> site_;
  Routes common_;  // in every folder of the site
  Routes routes_;
  Page page_;
  http::Workers slow_{2};
  Access access_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace gpulse::serve
