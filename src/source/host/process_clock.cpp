// SPDX-License-Identifier: Apache-2.0
#include "source/host/process_clock.hpp"

#include <unistd.h>

#include <string>

#include "base/clock.hpp"

namespace gpulse::host {

std::optional<clockid_t> cpu_clock(std::uint32_t pid) {
  clockid_t clock{};
  if (::clock_getcpuclockid(static_cast<pid_t>(pid), &clock) != 0) return std::nullopt;
  return clock;
}

std::optional<std::chrono::nanoseconds> time_of(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool is_own_proc(const Sysroot &root) {
  return root.is_machine() && root.read_link("/proc/self") == std::to_string(::getpid());
}

}  // namespace gpulse::host
