// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metric/metric.hpp"

namespace gpulse::rows {

// clang-format off
inline constexpr Metric kCoreRows[] = {
    {.key = "cpu_percent", .scope = Scope::core, .unit = Unit::percent, .precision = 1, .window = Window::since_last,
     .group = Group::host, .label = "CPU",
     .help = "Use of one core of the host",
     .meaning = "One core at 100 while the others rest is a program that waits for one of its threads.",
     .role = Role::cpu},
    {.key = "cpu_iowait_percent", .scope = Scope::core, .unit = Unit::percent, .precision = 1,
     .window = Window::since_last, .group = Group::host, .label = "IOWAIT",
     .help = "Time one core of the host waited for disks",
     .meaning = "The core had nothing to do but wait for a disk."},
    {.key = "clock_mhz", .scope = Scope::core, .unit = Unit::mhz, .group = Group::host, .label = "CLOCK",
     .help = "Clock of one core of the host",
     .meaning = "How fast the core runs, as the kernel knows it; a core that rests keeps its last clock.",
     .role = Role::clock},
};
// clang-format on

}  // namespace gpulse::rows
