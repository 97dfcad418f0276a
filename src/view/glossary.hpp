// SPDX-License-Identifier: Apache-2.0
// What the short labels over the columns of the tables and on the live view mean: those of the metric table, and the
// few that stand for no single metric. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metric/table.hpp"

namespace gpulse::view {

// A label that stands for no single metric.
struct Term {
  std::string_view label;
  std::string_view words;
};
std::span<const Term> terms();
// Null: it is none.
const Term *find_term(std::string_view label);

// The metrics that carry the label where people see it; of those that only other programs read, if there is no such.
std::vector<MetricId> labelled_metrics(std::string_view label);

// The label that is written like this but for capitals; empty: none is.
std::string_view label_in_any_case(std::string_view name);

// What the label means, in one line; where several things have it, of each. Empty: it is no label.
std::string label_line(std::string_view label);

}  // namespace gpulse::view
