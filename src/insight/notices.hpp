// SPDX-License-Identifier: Apache-2.0
// What is worth a look on one device, as plain values; a view says it in its own way. Pure.
#pragma once

#include <vector>

#include "model/snapshot.hpp"

namespace gpulse::insight {

enum class NoticeKind : std::uint8_t {
  held_back,  // a reason why the clocks are lower than they could be, or another bit of a set that deserves a look
  beyond_threshold,
};

struct Notice {
  NoticeKind kind = NoticeKind::beyond_threshold;
  Severity severity = Severity::warning;
  MetricId metric{};
  double value = 0;  // the reading; of a set the one bit that this is about
};

// The metrics that notices() looks at.
const std::vector<MetricId> &watched_metrics();

// The worst first; what is usual for a device at work, such as the power limit, comes last, as a note. Temperatures are
// left out: every view has a place of its own for them.
std::vector<Notice> notices(const Device &device);

// It reports to be busy while most of it does nothing: one spinning processor of 132 counts as 100 % utilisation.
bool seems_busier_than_it_is(const Device &device);

}  // namespace gpulse::insight
