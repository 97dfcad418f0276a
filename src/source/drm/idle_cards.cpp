// SPDX-License-Identifier: Apache-2.0
#include "source/drm/idle_cards.hpp"

#include "source/sysfs/power.hpp"

namespace gpulse::drm {

bool IdleCards::try_release(const Sysroot &root, const Card &card, const Frame &last, Monotonic now) {
  if (idle_for_.count() == 0) return false;
  const std::lock_guard lock(mutex_);
  auto &release = releases_.try_emplace(card.name, idle_for_).first->second;
  // An unknown load counts as work, so that a card that just woke is read.
  const bool works = last.row[device_metric("gpu_utilization_percent")].value_or(1) > 0;
  if (works && !release.is_released()) release.note_work(now);
  return release.try_release(now, [&] { return sysfs::may_suspend(root, card.device); });
}

bool IdleCards::try_take_back(const Sysroot &root, std::span<const Card> cards, Monotonic now) {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (const auto &card : cards) {
    const auto known = releases_.find(card.name);
    if (known == releases_.end()) continue;
    any = known->second.try_take_back(now, [&] { return is_asleep(root, card); }) || any;
  }
  return any;
}

}  // namespace gpulse::drm
