// SPDX-License-Identifier: Apache-2.0
// The one list of metrics. Adding a metric is one row in metric/rows/ plus the line in a source that fills it.
// A name that is not in the table does not compile: device_metric("power_draw_wats") is an error.
#pragma once

#include <algorithm>
#include <array>

#include "metric/keys.hpp"  // written by the build from the rows
#include "metric/metric.hpp"

namespace gpulse {

// A metric's place in the table; its slot is its place among the numbers (or the texts) of its scope.
struct MetricId {
  std::uint16_t index = 0;
  constexpr bool operator==(const MetricId &) const = default;
};

inline constexpr std::size_t kMetricCount = kMetricKeys.size();

extern const std::array<Metric, kMetricCount> kMetrics;

inline const Metric &describe(MetricId id) { return kMetrics[id.index]; }
constexpr const MetricKey &key_of(MetricId id) { return kMetricKeys[id.index]; }

constexpr bool is_text(const Metric &metric) { return metric.kind == Kind::text; }
constexpr bool is_text(const MetricKey &metric) { return metric.kind == Kind::text; }

// What every reading is looked at with: a few bytes each, because a sample finds them in no cache.
struct MetricBrief {
  std::uint16_t slot = 0;
  Scope scope{};
  Kind kind{};
  std::int8_t precision = 0;
};
constexpr bool is_text(const MetricBrief &metric) { return metric.kind == Kind::text; }

namespace detail {
struct Counts {
  std::array<std::size_t, kScopes> numbers{}, texts{};
};
constexpr auto make_counts() {
  Counts counts;
  for (const auto &metric : kMetricKeys) ++(is_text(metric) ? counts.texts : counts.numbers)[std::size_t(metric.scope)];
  return counts;
}
inline constexpr auto kCounts = make_counts();
}  // namespace detail

// How many numbers, and how many texts, a row of the scope holds.
constexpr std::size_t number_count(Scope scope) { return detail::kCounts.numbers[static_cast<std::size_t>(scope)]; }
constexpr std::size_t text_count(Scope scope) { return detail::kCounts.texts[static_cast<std::size_t>(scope)]; }

namespace detail {
constexpr auto make_briefs() {
  std::array<MetricBrief, kMetricCount> briefs{};
  std::array<std::array<std::uint16_t, 2>, kScopes> next{};
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const auto &metric = kMetricKeys[i];
    const auto slot = next[static_cast<std::size_t>(metric.scope)][is_text(metric) ? 1 : 0]++;
    briefs[i] = {slot, metric.scope, metric.kind, metric.precision};
  }
  return briefs;
}
inline constexpr auto kBriefs = make_briefs();
}  // namespace detail

constexpr const MetricBrief &brief(MetricId id) { return detail::kBriefs[id.index]; }
constexpr std::size_t slot(MetricId id) { return brief(id).slot; }

// At run time, by key or by nvidia-smi's name.
std::optional<MetricId> find_metric(Scope scope, std::string_view key);
std::optional<MetricId> find_role(Scope scope, Role role);

template <Scope S>
consteval MetricId metric(std::string_view key) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (kMetricKeys[i].scope == S && kMetricKeys[i].key == key) return MetricId{static_cast<std::uint16_t>(i)};
  }
  throw "no such metric in metric/rows/";
}
// The metric that plays the role in the scope.
template <Scope S>
consteval MetricId role_metric(Role role) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (kMetricKeys[i].scope == S && kMetricKeys[i].role == role) return MetricId{static_cast<std::uint16_t>(i)};
  }
  throw "no metric of the scope plays this role";
}
consteval MetricId device_metric(std::string_view key) { return metric<Scope::device>(key); }
consteval MetricId process_metric(std::string_view key) { return metric<Scope::process>(key); }
consteval MetricId host_metric(std::string_view key) { return metric<Scope::host>(key); }
consteval MetricId core_metric(std::string_view key) { return metric<Scope::core>(key); }
consteval MetricId detail_metric(std::string_view key) { return metric<Scope::detail>(key); }
consteval MetricId self_metric(std::string_view key) { return metric<Scope::self>(key); }

// Calls visit(id, metric) for every metric of the scope, in table order.
template <class Visit>
void for_each_metric(Scope scope, Visit visit) {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (kMetricKeys[i].scope == scope) visit(MetricId{static_cast<std::uint16_t>(i)}, kMetrics[i]);
  }
}

}  // namespace gpulse
