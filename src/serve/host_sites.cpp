// SPDX-License-Identifier: Apache-2.0
#include "serve/host_sites.hpp"

#include <algorithm>
#include <utility>

namespace gpulse::serve {

std::shared_ptr<WatchedHost> HostSites::find(const std::string &key) {
  const std::lock_guard lock(mutex_);
  const auto found = hosts_.find(key);
  return found == hosts_.end() ? nullptr : found->second;
}

std::shared_ptr<WatchedHost> HostSites::open(const std::string &key, WatchedHostOptions options) {
  const std::lock_guard lock(mutex_);
  if (const auto found = hosts_.find(key); found != hosts_.end()) return found->second;
  if (hosts_.size() >= limits_.hosts) make_room();
  if (hosts_.size() >= limits_.hosts) return nullptr;
  if (hosts_.empty()) reaper_.call_at(monotonic_now() + limits_.looks_every, [this] { reap(); });
  auto host = std::make_shared<WatchedHost>(std::move(options), asks_, timer_);
  hosts_.emplace(key, host);
  return host;
}

void HostSites::let_go(const std::string &key) {
  const std::lock_guard lock(mutex_);
  const auto found = hosts_.find(key);
  if (found == hosts_.end()) return;
  closers_.post([host = std::move(found->second)] {});
  hosts_.erase(found);
}

// With the mutex held.
void HostSites::make_room() {
  const auto oldest = std::ranges::min_element(
      hosts_, [](const auto &a, const auto &b) { return a.second->used() < b.second->used(); });
  if (oldest->second->has_followers() || monotonic_now() - oldest->second->used() < limits_.spared_for) return;
  closers_.post([host = std::move(oldest->second)] {});
  hosts_.erase(oldest);
}

void HostSites::reap() {
  const std::lock_guard lock(mutex_);
  const auto now = monotonic_now();
  for (auto host = hosts_.begin(); host != hosts_.end();) {
    if (now - host->second->used() < limits_.kept_for) {
      ++host;
      continue;
    }
    closers_.post([gone = std::move(host->second)] {});
    host = hosts_.erase(host);
  }
  if (!hosts_.empty()) reaper_.call_at(now + limits_.looks_every, [this] { reap(); });
}

}  // namespace gpulse::serve
