// SPDX-License-Identifier: Apache-2.0
#include "metric/table.hpp"

#include <algorithm>
#include <array>

#include "metric/rows.hpp"

namespace gpulse {

constinit const std::array<Metric, kMetricCount> kMetrics = kMetricRows;

namespace {

constexpr bool legal_key(const Metric &metric) {
  if (metric.key.empty() || metric.key.front() == '_' || metric.key.back() == '_') return false;
  return std::all_of(metric.key.begin(), metric.key.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}
constexpr std::string_view suffix(Unit unit) {
  switch (unit) {
    case Unit::percent:
      return "_percent";
    case Unit::bytes:
      return "_bytes";
    case Unit::bytes_per_second:
      return "_bytes_per_second";
    case Unit::watts:
      return "_watts";
    case Unit::joules:
      return "_joules";
    case Unit::celsius:
      return "_celsius";
    case Unit::mhz:
      return "_mhz";
    case Unit::seconds:
      return "_seconds";
    case Unit::rpm:
      return "_rpm";
    case Unit::bits:
      return "_bits";
    case Unit::volts:
      return "_volts";
    case Unit::per_second:
      return "_per_second";
    case Unit::none:
      break;
  }
  return "";
}
// Only what has a rate adds up.
constexpr bool is_total_sound(const Metric &metric) {
  switch (metric.unit) {
    case Unit::percent:
      return metric.total.ends_with(suffix(Unit::seconds));
    case Unit::none:
      return metric.kind == Kind::set && metric.total.ends_with(suffix(Unit::seconds));
    case Unit::watts:
      return metric.total.ends_with(suffix(Unit::joules));
    case Unit::bytes_per_second:
      return metric.total.ends_with(suffix(Unit::bytes));
    default:
      return false;
  }
}
constexpr bool table_is_sound() {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &metric = kMetricRows[i];
    if (!legal_key(metric) || !metric.key.ends_with(suffix(metric.unit))) return false;
    if (metric.label.empty() || metric.help.empty() || metric.meaning.empty()) return false;
    if (!metric.total.empty() && !is_total_sound(metric)) return false;
    if (!metric.peak.empty() && (!metric.peak.ends_with(suffix(metric.unit)) || metric.kind != Kind::gauge))
      return false;
    if (metric.kind == Kind::set && (metric.words.empty() || metric.words.size() > 52)) return false;
  }
  return true;
}
static_assert(table_is_sound(), "a key is illegal, lacks its unit or its words");

// Sorted first: a compiler may refuse to compare every row with every other.
constexpr bool keys_are_unique() {
  std::array<const Metric *, kMetricCount> rows{};
  for (std::size_t i = 0; i < kMetricCount; ++i) rows[i] = &kMetricRows[i];
  std::sort(rows.begin(), rows.end(), [](const Metric *a, const Metric *b) {
    return a->scope != b->scope ? a->scope < b->scope : a->key < b->key;
  });
  return std::adjacent_find(rows.begin(), rows.end(), [](const Metric *a, const Metric *b) {
           return a->scope == b->scope && a->key == b->key;
         }) == rows.end();
}
static_assert(keys_are_unique(), "a key is doubled");

constexpr bool keys_are_those_of_the_rows() {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &key = kMetricKeys[i];
    const auto &row = kMetricRows[i];
    if (key.key != row.key || key.scope != row.scope || key.kind != row.kind || key.unit != row.unit) return false;
    if (key.role != row.role || key.smi != row.smi) return false;
  }
  return true;
}
static_assert(keys_are_those_of_the_rows(), "metric/keys.hpp is of other rows");

}  // namespace

std::optional<MetricId> find_metric(Scope scope, std::string_view key) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &metric = kMetrics[i];
    if (metric.scope == scope && !key.empty() && (metric.key == key || metric.smi == key)) {
      return MetricId{static_cast<std::uint16_t>(i)};
    }
  }
  return std::nullopt;
}

std::optional<MetricId> find_role(Scope scope, Role role) {
  // Asked for every cell of every table: looked up once.
  static constexpr auto kNone = static_cast<std::uint16_t>(kMetricCount);
  static const auto kByRole = [] {
    std::array<std::array<std::uint16_t, kRoles>, kScopes> found{};
    for (auto &roles : found) roles.fill(kNone);
    for (std::size_t i = kMetricCount; i-- > 0;) {
      found[static_cast<std::size_t>(kMetrics[i].scope)][static_cast<std::size_t>(kMetrics[i].role)] =
          static_cast<std::uint16_t>(i);
    }
    return found;
  }();
  const auto index = kByRole[static_cast<std::size_t>(scope)][static_cast<std::size_t>(role)];
  return index == kNone ? std::nullopt : std::optional(MetricId{index});
}

}  // namespace gpulse
