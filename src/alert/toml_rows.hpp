// SPDX-License-Identifier: Apache-2.0
// Tables of the configuration, read by rows: a key each, and how its value is taken. Internal to src/alert.
#pragma once

// Some of its asserts are about the text, which may be anything; the error that follows them is the right answer.
#define TOML_ASSERT(condition) static_assert(true)

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/nearest.hpp"
#include "base/result.hpp"
#include "insight/alert_rules.hpp"

namespace gpulse::alert {

// All of these say what is wrong with the value; nothing where it is good.
inline std::string take(const toml::node &node, std::string &target) {
  const auto text = node.value<std::string>();
  if (!node.is_string() || !text || text->empty()) return "is no text";
  target = *text;
  return {};
}
inline std::string take(const toml::node &node, bool &target) {
  if (!node.is_boolean()) return "is neither true nor false";
  target = *node.value<bool>();
  return {};
}
inline std::string take(const toml::node &node, std::optional<double> &target) {
  const auto number = node.value<double>();
  if (!node.is_number() || !number || !(*number > -1e18 && *number < 1e18)) return "is no number";
  target = number;
  return {};
}
inline std::string take_time(const toml::node &node, std::optional<std::chrono::nanoseconds> &target,
                             std::chrono::nanoseconds least = {}) {
  const auto text = node.value<std::string>();
  std::chrono::nanoseconds time{};
  if (!node.is_string() || !text || !parse_duration(*text, time) || time < least || time > std::chrono::days(30))
    return "is no length of time, such as \"90s\", \"5m\", \"1h\"";
  target = time;
  return {};
}
inline std::string take(const toml::node &node, std::vector<std::string> &target) {
  constexpr std::size_t kMost = 64;
  const auto *all = node.as_array();
  if (all == nullptr || all->empty() || all->size() > kMost) return "is no list of 1 to 64 texts";
  for (const auto &each : *all) {
    if (auto problem = take(each, target.emplace_back()); !problem.empty()) return "has an element that " + problem;
  }
  return {};
}

template <class Target>
struct TomlRow {
  std::string_view key;
  std::string (*take)(const toml::node &node, Target &target);
};

// `where`: as the file has it, "[alerts]".
template <class Target>
Result<void> take_rows(const toml::table &table, std::span<const TomlRow<Target>> rows, Target &target,
                       std::string_view where) {
  for (const auto &[key, node] : table) {
    const auto found = std::ranges::find(rows, key.str(), &TomlRow<Target>::key);
    if (found == rows.end()) {
      std::vector<std::string_view> names;
      for (const auto &row : rows) names.push_back(row.key);
      return failure(fmt::format("{} {} is nothing to configure", where, key.str()),
                     did_you_mean(key.str(), names, "docs/alerts.md lists what is"));
    }
    if (auto problem = found->take(node, target); !problem.empty())
      return failure(fmt::format("{} {} {}", where, key.str(), problem));
  }
  return {};
}

// The tables of "[[alerts.name]]"; an error where it is something else.
inline Result<std::vector<const toml::table *>> tables_of(const toml::table &alerts, std::string_view name) {
  constexpr std::size_t kMost = 1000;
  std::vector<const toml::table *> tables;
  const auto *node = alerts.get(name);
  if (node == nullptr) return tables;
  const auto *all = node->as_array();
  const auto mistake = [&] {
    return failure(fmt::format("alerts.{} is no table", name), fmt::format("write [[alerts.{}]]", name));
  };
  if (all == nullptr) return mistake();
  for (const auto &each : *all) {
    if (each.as_table() == nullptr || tables.size() == kMost) return mistake();
    tables.push_back(each.as_table());
  }
  return tables;
}

// [alerts.rule.NAME] and [[alerts.own]], on top of the rules that there are.
Result<void> configure_rules(const toml::table &alerts, std::vector<insight::AlertRule> &rules);

}  // namespace gpulse::alert
