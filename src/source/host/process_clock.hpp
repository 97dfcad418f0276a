// SPDX-License-Identifier: Apache-2.0
// The clock that the kernel has for each process. All functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

#include "base/sysroot.hpp"

namespace gpulse::host {

// The clock of a process's CPU time. /proc/PID/stat has it too, in ticks and at ten times the cost.
std::optional<clockid_t> cpu_clock(std::uint32_t pid);
std::optional<std::chrono::nanoseconds> time_of(clockid_t clock);

// Whether the pids in /proc are the ones that system calls take: /proc may be of another pid namespace.
bool is_own_proc(const Sysroot &root);

}  // namespace gpulse::host
