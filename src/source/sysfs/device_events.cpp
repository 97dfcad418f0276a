// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/device_events.hpp"

#include "base/text.hpp"

namespace gpulse::sysfs {

namespace {

// The checks of all sources follow each other within one sample.
constexpr auto kSameTime = std::chrono::milliseconds(20);

}  // namespace

std::optional<std::uint64_t> DeviceEvents::count(Monotonic now) {
  const std::lock_guard lock(mutex_);
  if (read_at_ && now - *read_at_ < kSameTime) return count_;
  read_at_ = now;
  const bool told = file_.read(text_, root_, "/sys/kernel/uevent_seqnum", 64);
  count_ = told ? parse_integer<std::uint64_t>(trim(text_)) : std::nullopt;
  return count_;
}

}  // namespace gpulse::sysfs
