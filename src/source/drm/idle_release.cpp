// SPDX-License-Identifier: Apache-2.0
#include "source/drm/idle_release.hpp"

#include "source/sysfs/attribute.hpp"

namespace gpulse::drm {

namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 20s;
constexpr auto kNotAgainFor = 10min;

bool may_sleep(const Sysroot &root, const Card &card) {
  return sysfs::read_word(root, card.device + "/power/control") == "auto" &&
         sysfs::read_word(root, card.device + "/power/runtime_status") == "active";
}

}  // namespace

bool IdleRelease::wanted(const Sysroot &root, const Card &card, const Frame &last, Monotonic now) {
  if (after_ == 0ns) return false;
  const std::lock_guard lock(mutex_);
  auto &state = states_[card.name];
  if (state.since) return true;
  // Not known yet counts as work: a card that just woke is looked at.
  if (last.row[device_metric("gpu_utilization_percent")].value_or(1) > 0) state.busy_at = now;
  if (now < state.not_before || now - state.busy_at < after_ || !may_sleep(root, card)) return false;
  state.since = now;
  return true;
}

bool IdleRelease::over(const Sysroot &root, std::span<const Card> cards, Monotonic now) {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (const auto &card : cards) {
    const auto known = states_.find(card.name);
    if (known == states_.end() || !known->second.since || now - *known->second.since < kLong) continue;
    known->second.since.reset();
    if (!is_asleep(root, card)) known->second.not_before = now + kNotAgainFor;
    any = true;
  }
  return any;
}

}  // namespace gpulse::drm
