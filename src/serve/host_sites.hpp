// SPDX-License-Identifier: Apache-2.0
// The hosts of a fleet that somebody looks at: so many at a time, each let go of when nobody has for a while. Any
// thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "serve/watched_host.hpp"

namespace gpulse::serve {

struct HostSitesLimits {
  std::size_t hosts = 16;
  std::chrono::nanoseconds kept_for = std::chrono::minutes(2);
  // One whose last reader came so long ago makes room for another.
  std::chrono::nanoseconds spared_for = std::chrono::seconds(10);
  std::chrono::nanoseconds looks_every = std::chrono::seconds(15);  // for those to let go of
};

class HostSites {
 public:
  // Both outlive it.
  HostSites(SharedAsks<http::Response> &asks, Timer &timer, const HostSitesLimits &limits = {})
      : limits_(limits), asks_(asks), timer_(timer) {}
  HostSites(const HostSites &) = delete;
  HostSites &operator=(const HostSites &) = delete;
  ~HostSites() = default;

  // Null: nobody has looked at it lately.
  std::shared_ptr<WatchedHost> find(const std::string &key);
  // Null: too many are looked at.
  std::shared_ptr<WatchedHost> open(const std::string &key, WatchedHostOptions options);
  void let_go(const std::string &key);

 private:
  void reap();
  void make_room();

  const HostSitesLimits limits_;
  SharedAsks<http::Response> &asks_;
  Timer &timer_;
  mutable std::mutex mutex_;  // guards these
  std::map<std::string, std::shared_ptr<WatchedHost>, std::less<>> hosts_;
  http::Workers closers_{1};  // ending one takes a moment
  Timer reaper_;              // the first to end: it uses the rest
};

}  // namespace gpulse::serve
