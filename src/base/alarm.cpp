// SPDX-License-Identifier: Apache-2.0
#include "base/alarm.hpp"

#include <sys/timerfd.h>

#include <cstdint>

namespace gpulse {

using namespace std::chrono_literals;

Alarm::Alarm() : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {}

void Alarm::set(Monotonic time) {
  const itimerspec when{.it_interval = {}, .it_value = timespec_of(time)};
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void Alarm::wait() {
  std::uint64_t expirations = 0;
  if (timer_ && ::read(timer_.get(), &expirations, sizeof expirations) >= 0) return;
  // Interrupted, or there was no descriptor left for a timer: early is allowed.
  sleep_until(monotonic_now() + 50ms);
}

}  // namespace gpulse
