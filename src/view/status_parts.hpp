// SPDX-License-Identifier: Apache-2.0
// The parts of the status screen.
#pragma once

#include <string>
#include <vector>

#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "term/style.hpp"

namespace gpulse::view {

using Lines = std::vector<std::string>;

// Each part says what it shows (add_…_needs); StatusNeeds tests that nothing is forgotten.

// Titles and a row per device; `details` adds a second row with the readings that found no column.
Lines device_lines(const Snapshot &snapshot, const term::Style &style, bool details);
// Several devices to a line, for more devices than lines: index, utilisation, memory; at most `limit` lines.
Lines device_grid(const Snapshot &snapshot, const term::Style &style, std::size_t limit);
void add_device_needs(MetricSet &set);

// Titles and a row per process, at most `limit` lines in all; the last says how many are not shown.
Lines process_lines(const Snapshot &snapshot, const term::Style &style, std::size_t limit);
void add_process_needs(MetricSet &set);

// One line: the most important first, what does not fit in `width` left out.
std::vector<term::Span> host_spans(const Snapshot &snapshot, const term::Style &style, int width);
std::string host_line(const Snapshot &snapshot, const term::Style &style);
void add_host_needs(MetricSet &set);

}  // namespace gpulse::view
