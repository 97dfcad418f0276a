// SPDX-License-Identifier: Apache-2.0
#include "alert/outbox.hpp"

#include <algorithm>

namespace gpulse::alert {

void Outbox::add(std::span<const Alert> changes, const std::string &host, WallTime now) {
  for (const auto &change : changes) {
    const bool is_firing = change.phase == Phase::firing;
    const auto takes = [&](const Message &group) {
      return group.rule == change.rule && group.level == change.level && group.is_firing == is_firing &&
             group.alerts.size() < kMostAlertsOfMessage;
    };
    auto group = std::ranges::find_if(groups, takes);
    if (group == groups.end()) {
      groups.push_back({.key = random_word(32),
                        .is_firing = is_firing,
                        .rule = change.rule,
                        .level = change.level,
                        .host = host,
                        .time = now});
      group = groups.end() - 1;
    }
    group->alerts.push_back(change);
  }
}

bool Outbox::close(WallTime now, std::chrono::nanoseconds group, const Audience &audience) {
  bool any = false;
  // In the order in which they began: what is over is told after what has begun.
  while (!groups.empty() && now - groups.front().time >= group) {
    auto message = std::move(groups.front());
    groups.erase(groups.begin());
    auto receivers = audience(message);
    any = any || !receivers.empty();
    put(std::move(message), std::move(receivers));
  }
  return any;
}

void Outbox::put(Message message, std::vector<Text> receivers) {
  if (receivers.empty()) return;
  const auto since = message.time;
  messages.push_back({.message = std::move(message), .receivers = std::move(receivers), .since = since});
  bound();
}

void Outbox::bound() {
  while (messages.size() > kMostMessages) {
    ++overflow_;
    messages.pop_front();
  }
}

const Waiting *Outbox::next(const Text &receiver) const {
  const auto is_next = [&](const Waiting &waiting) {
    return std::ranges::find(waiting.receivers, receiver) != waiting.receivers.end();
  };
  const auto found = std::ranges::find_if(messages, is_next);
  return found != messages.end() && found->is_kept ? &*found : nullptr;
}

void Outbox::done(const Text &receiver, const Text &key) {
  const auto found = std::ranges::find(messages, key, [](const Waiting &waiting) { return waiting.message.key; });
  if (found == messages.end()) return;
  std::erase(found->receivers, receiver);
  if (found->receivers.empty()) messages.erase(found);
}

std::size_t Outbox::waiting(const Text &receiver) const {
  return static_cast<std::size_t>(std::ranges::count_if(messages, [&](const Waiting &waiting) {
    return std::ranges::find(waiting.receivers, receiver) != waiting.receivers.end();
  }));
}

bool Outbox::is_waiting(const Text &receiver, const Text &alert) const {
  return std::ranges::any_of(messages, [&](const Waiting &waiting) {
    return std::ranges::find(waiting.receivers, receiver) != waiting.receivers.end() &&
           std::ranges::find(waiting.message.alerts, alert, &Alert::id) != waiting.message.alerts.end();
  });
}

std::size_t Outbox::drop_others(std::span<const Text> receivers) {
  std::size_t dropped = 0;
  for (auto &waiting : messages) {
    dropped += std::erase_if(waiting.receivers, [&](const Text &receiver) {
      return std::ranges::find(receivers, receiver) == receivers.end();
    });
  }
  std::erase_if(messages, [](const Waiting &waiting) { return waiting.receivers.empty(); });
  return dropped;
}

void Outbox::shift(std::chrono::nanoseconds by) {
  for (auto &group : groups) group.time += by;
  for (auto &waiting : messages) waiting.since += by;
}

void Outbox::set_kept() {
  for (auto &waiting : messages) waiting.is_kept = true;
}

}  // namespace gpulse::alert
