// SPDX-License-Identifier: Apache-2.0
#include "feed/feed.hpp"

#include <algorithm>

#include "feed/agent_feed.hpp"
#include "feed/live_feed.hpp"
#include "feed/replay_feed.hpp"

namespace gpulse::feed {

Subscription Feed::subscribe(Subscriber subscriber) {
  auto entry = std::make_shared<Subscriber>(std::move(subscriber));
  const std::lock_guard lock(subscribers_->mutex);
  subscribers_->list.push_back(entry);
  const auto end = [all = std::weak_ptr(subscribers_)](Subscriber *one) {
    const auto alive = all.lock();
    if (alive == nullptr) return;
    const std::lock_guard publishing(alive->mutex);
    std::erase_if(alive->list, [&](const auto &each) { return each.get() == one; });
  };
  return Subscription(std::shared_ptr<void>(entry.get(), [end, entry](void *) { end(entry.get()); }));
}

Result<void> Feed::follow(const std::stop_token &stop, const std::function<bool(const SnapshotPtr &)> &take) {
  while (!stop.stop_requested()) {
    const auto sample = next(stop);
    if (!sample) return std::unexpected(sample.error());
    if (*sample == nullptr || !take(*sample)) break;
  }
  return {};
}

Result<void> Feed::run(const std::stop_token &stop) {
  return follow(stop, [&](const SnapshotPtr &sample) {
    const std::lock_guard publishing(subscribers_->mutex);
    const auto list = subscribers_->list;
    for (const auto &subscriber : list) {
      // An earlier one may just have ended this subscription.
      if (std::ranges::find(subscribers_->list, subscriber) != subscribers_->list.end()) (*subscriber)(sample);
    }
    return true;
  });
}

Result<std::unique_ptr<Feed>> open(const Options &options, const std::stop_token &stop) {
  if (options.demo || !options.replay.empty()) return open_replay(options, stop);
  if (options.agent) return open_agent(options);
  return open_live(options);
}

}  // namespace gpulse::feed
