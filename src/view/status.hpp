// SPDX-License-Identifier: Apache-2.0
// The table that `gpulse` prints: devices, processes, host, what is wrong. A pure function of the snapshot.
#pragma once

#include <string>
#include <vector>

#include "insight/finding.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "term/style.hpp"

namespace gpulse::view {

// A width at which nothing is cut.
inline constexpr int kUncut = 10'000;

struct StatusOptions {
  term::Style style = {};
  int height = 0;  // lines there is room for; 0: as many as it takes
  bool processes = true;
  bool host = true;
  // What is wrong with the past minute, the worst first; null: nobody has looked at it.
  const std::vector<insight::Finding> *findings = nullptr;
  // Why there is no device, where the snapshot does not know.
  std::string absence = {};
};

// All that it may show: nothing else has to be read for it.
MetricSet needs_of_status();

// Lines, each ended by a newline, none wider than the style, no more than the height if there is one.
std::string render_status(const Snapshot &snapshot, const StatusOptions &options);

}  // namespace gpulse::view
