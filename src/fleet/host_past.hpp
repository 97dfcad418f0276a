// SPDX-License-Identifier: Apache-2.0
// What happened to a host in a span of time, out of an engine: errors of the driver, and what its agent found to be
// wrong. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "fleet/host_asker.hpp"
#include "fleet/query_answer.hpp"
#include "model/event.hpp"

namespace gpulse::fleet {

// Asked at steps; the same error that comes again within one is told once.
std::string errors_query(const HostPlace &host);
// Those of the span, by time.
std::vector<Event> error_events(std::span<const EngineSeries> answer, WallTime from, WallTime to);

// From the first step at which it was there to the first at which it was not.
struct Stretch {
  std::optional<WallTime> begin{}, end{};  // none: before the first step, after the last
};
// Of a series that is there as long as what it tells of is true.
std::vector<Stretch> stretches_of(const EngineSeries &series, WallTime first, WallTime last, std::chrono::seconds step);

struct FindingStretch {
  Text id{}, uuid{};  // no uuid: of the machine
  std::optional<WallTime> begin{}, end{};
};
std::string findings_query(const HostPlace &host);
std::vector<FindingStretch> finding_stretches(std::span<const EngineSeries> answer, WallTime first, WallTime last,
                                              std::chrono::seconds step);

}  // namespace gpulse::fleet
