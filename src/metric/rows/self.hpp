// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metric/metric.hpp"
#include "metric/state_names.hpp"

namespace gpulse::rows {

// clang-format off
inline constexpr Metric kSelfRows[] = {
    {.key = "sample_seconds", .scope = Scope::self, .unit = Unit::seconds, .precision = 6, .group = Group::self,
     .label = "SAMPLE",
     .help = "Time the last sample took",
     .meaning = "From the first call of the last sample to its last answer, over all sources at once."},
    {.key = "driver_seconds", .scope = Scope::self, .unit = Unit::seconds, .precision = 6, .group = Group::self,
     .label = "CALLS",
     .help = "Time spent inside calls to drivers and the kernel in the last sample",
     .meaning = "The part of sample_seconds that is not gpulse's own."},
    {.key = "driver_calls", .scope = Scope::self, .group = Group::self, .label = "N",
     .help = "Calls made in the last sample",
     .meaning = "How many readers were run in the last sample."},
    {.key = "readers_slowed", .scope = Scope::self, .group = Group::self, .label = "SLOWED",
     .help = "Readers moved to a slower rhythm",
     .meaning = "Calls that turned out dear on this machine and are now made less often."},
    {.key = "cpu_percent", .scope = Scope::self, .unit = Unit::percent, .precision = 2, .window = Window::since_last,
     .group = Group::self, .label = "CPU",
     .help = "Processor time gpulse itself used",
     .meaning = "100 is one core fully used."},
    {.key = "memory_bytes", .scope = Scope::self, .unit = Unit::bytes, .group = Group::self, .label = "MEM",
     .help = "Memory gpulse itself holds",
     .meaning = "Resident memory of the gpulse process."},
};
// clang-format on

}  // namespace gpulse::rows
