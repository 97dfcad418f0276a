// SPDX-License-Identifier: Apache-2.0
// The columns a list of processes can have: some that every process has, and every metric of a process in the table.
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
// The metric that plays the role.
std::optional<ProcessColumn> column_of(Role role);

// Every column there is, and those that are shown unless the user says otherwise.
std::vector<ProcessColumn> all_columns();
std::vector<ProcessColumn> default_columns();

term::Cell cell(const ProcessColumn &column, const Process &process, const term::Style &style);

// What people look for is at the top: large numbers first, names from A to Z.
bool descends(const ProcessColumn &column);
// Below 0: a comes first when ascending. What is not known comes after everything else, either way.
int compare(const ProcessColumn &column, const Process &a, const Process &b, bool descending);

// How the columns of the panels share a line.
inline constexpr term::FitRules kPanelFit{.spare = 445, .in_turn = true};

}  // namespace gpulse::tui
