// SPDX-License-Identifier: Apache-2.0
// When something was found to be wrong, from the events that say so. Pure.
#pragma once

#include <span>
#include <vector>

#include "history/reader.hpp"
#include "insight/finding.hpp"

namespace gpulse::history {

// One that stood from `from` until `to` on these devices; none: it was about the machine.
struct StoodFinding {
  insight::FindingId id = insight::FindingId::unknown;
  Span span;
  std::vector<std::int64_t> devices{};
};

// `events` by time. What has no end, because the agent was stopped, ends where a stretch of `recorded` does, or where
// its number is used again. `recorded`: by time, without overlaps.
std::vector<StoodFinding> stood_findings(std::span<const Event> events, std::span<const KnownDevice> devices,
                                         std::span<const Span> recorded);

}  // namespace gpulse::history
