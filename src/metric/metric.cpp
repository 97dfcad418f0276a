// SPDX-License-Identifier: Apache-2.0
#include "metric/metric.hpp"

#include <algorithm>
#include <array>

#include "metric/table.hpp"

namespace gpulse {

namespace {

// Once, and not wherever the table is included: it takes its time.
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
    case Unit::none:
      break;
  }
  return "";
}
constexpr bool table_is_sound() {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &metric = kMetrics[i];
    if (!legal_key(metric) || !metric.key.ends_with(suffix(metric.unit))) return false;
    if (metric.label.empty() || metric.help.empty() || metric.meaning.empty()) return false;
    if (metric.kind == Kind::set && (metric.words.empty() || metric.words.size() > 52)) return false;
  }
  return true;
}
static_assert(table_is_sound(), "a key is illegal, lacks its unit or its words");

// Sorted first: a compiler may refuse to compare every row with every other.
constexpr bool keys_are_unique() {
  std::array<const Metric *, kMetricCount> rows{};
  for (std::size_t i = 0; i < kMetricCount; ++i) rows[i] = &kMetrics[i];
  std::sort(rows.begin(), rows.end(), [](const Metric *a, const Metric *b) {
    return a->scope != b->scope ? a->scope < b->scope : a->key < b->key;
  });
  return std::adjacent_find(rows.begin(), rows.end(), [](const Metric *a, const Metric *b) {
           return a->scope == b->scope && a->key == b->key;
         }) == rows.end();
}
static_assert(keys_are_unique(), "a key is doubled");

template <class Enum, std::size_t N>
std::string_view pick(const std::array<std::string_view, N> &names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

bool cut_suffix(std::string &text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

}  // namespace

std::string_view word(Scope scope) {
  static constexpr std::array<std::string_view, kScopes> kNames{"device", "process", "host", "self", "core", "detail"};
  return pick(kNames, scope);
}

std::string_view word(Kind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"gauge", "counter", "state", "set", "text"};
  return pick(kNames, kind);
}

std::string_view word(Unit unit) {
  static constexpr std::array<std::string_view, 12> kNames{"",
                                                           "percent",
                                                           "bytes",
                                                           "bytes per second",
                                                           "watts",
                                                           "joules",
                                                           "degrees Celsius",
                                                           "megahertz",
                                                           "seconds",
                                                           "revolutions per minute",
                                                           "bits",
                                                           "volts"};
  return pick(kNames, unit);
}

std::string_view word(Window window) {
  static constexpr std::array<std::string_view, 5> kNames{
      "the moment of reading", "the driver's own average over up to a second", "since the previous sample",
      "counted since the driver was loaded, or longer", "does not change"};
  return pick(kNames, window);
}

std::string_view word(Group group) {
  static constexpr std::array<std::string_view, 14> kNames{
      "activity", "engines", "memory", "power",    "temperature", "clocks",  "limits",
      "links",    "health",  "modes",  "identity", "host",        "process", "gpulse itself"};
  return pick(kNames, group);
}

std::string_view symbol(Unit unit) {
  static constexpr std::array<std::string_view, 12> kNames{"",   "%",   "B", "B/s", "W",   "J",
                                                           "°C", "MHz", "s", "RPM", "bit", "V"};
  return pick(kNames, unit);
}

std::string prometheus_name(const Metric &metric) {
  std::string name(metric.key);
  if (metric.unit == Unit::percent && cut_suffix(name, "_percent")) name += "_ratio";
  if (metric.unit == Unit::mhz && cut_suffix(name, "_mhz")) name += "_hertz";
  if (metric.kind == Kind::counter && !name.ends_with("_total")) name += "_total";
  static constexpr std::array<std::string_view, kScopes> kPrefix{"gpulse_",      "gpulse_process_", "gpulse_host_",
                                                                 "gpulse_self_", "gpulse_core_",    "gpulse_detail_"};
  return std::string(pick(kPrefix, metric.scope)) + name;
}

double prometheus_scale(const Metric &metric) {
  if (metric.unit == Unit::percent) return 0.01;
  if (metric.unit == Unit::mhz) return 1e6;
  return 1.0;
}

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
