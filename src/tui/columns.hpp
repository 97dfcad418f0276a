// SPDX-License-Identifier: Apache-2.0
// The columns that the list of processes can have: a few fixed ones, and every process metric of the metric table.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot.hpp"
#include "term/fit.hpp"
#include "term/table.hpp"

namespace gpulse::tui {

struct ProcessColumn {
  enum class Kind : std::uint8_t { device, pid, type, owner, metric };
  Kind kind = Kind::pid;
  MetricId metric{};  // of Kind::metric

  bool operator==(const ProcessColumn &) const = default;
};

std::string_view key(const ProcessColumn &column);    // as the settings write it
std::string_view label(const ProcessColumn &column);  // as the table's head shows it
std::string_view help(const ProcessColumn &column);
std::optional<ProcessColumn> column_named(std::string_view key);
// The column of the metric with this role.
std::optional<ProcessColumn> column_of(Role role);

// Every column, and those shown by default.
std::vector<ProcessColumn> all_columns();
std::vector<ProcessColumn> default_columns();

term::Cell cell(const ProcessColumn &column, const Process &process, const term::Style &style);

// Whether a column is sorted in descending order at first: numbers are, names are not.
bool descends(const ProcessColumn &column);
// Below 0: a comes first. Unknown values come last in either order.
int compare(const ProcessColumn &column, const Process &a, const Process &b, bool descending);

// How the columns of the panels share a line.
inline constexpr term::FitRules kPanelFit{.spare = 445, .in_turn = true};

}  // namespace gpulse::tui
