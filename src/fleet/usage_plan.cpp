// SPDX-License-Identifier: Apache-2.0
#include "fleet/usage_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/engine.hpp"
#include "metric/metric.hpp"
#include "model/snapshot.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr auto kUnsettled = 60s;  // VictoriaMetrics keeps the newest 30 seconds back
constexpr std::array<seconds, 12> kWindows{5min, 10min, 15min, 20min, 30min, 1h, 2h, 3h, 4h, 6h, 12h, 24h};
constexpr std::array<seconds, 2> kResolutions{15s, 30s};
constexpr seconds kCoarsest = 60s;
constexpr std::int64_t kMomentsOfWindow = 20;
constexpr double kValuesOfWindow = 4;              // of a counter, or the engine cannot tell well how it grew
constexpr std::size_t kMostStretches = 3'000'000;  // of all GPUs together

seconds window_of(seconds span, std::size_t gpus, Seconds interval) {
  for (const auto window : kWindows) {
    const auto stretches = static_cast<std::size_t>(span / window) * std::max<std::size_t>(gpus, 1);
    if (Seconds(window) >= kValuesOfWindow * interval && stretches <= kMostStretches) return window;
  }
  return kWindows.back();
}

seconds resolution_of(seconds window) {
  const auto found =
      std::ranges::find_if(kResolutions, [&](seconds each) { return each * kMomentsOfWindow >= window; });
  return found == kResolutions.end() ? kCoarsest : *found;
}

std::string total_name(MetricId id) { return prometheus_name(total_of(describe(id))); }

struct PartWords {
  std::string family, matcher, labels;
};

PartWords words_of(UsagePart part) {
  namespace families = view::families;
  switch (part) {
    case UsagePart::present:
      // Whatever state it is in, it has a series for each.
      return {std::string(families::kState), fmt::format("state={}", quoted(word(DeviceState::ok))), ""};
    case UsagePart::held:
      return {std::string(families::kOwner), "", ",user,batch_job,batch_account,gpu_pod,gpu_namespace,gpu_container"};
    case UsagePart::active:
      return {total_name(device_metric("gpu_utilization_percent")), "", ""};
    case UsagePart::used:
      return {total_name(device_metric("sm_active_percent")), "", ""};
    case UsagePart::energy:
      return {total_name(device_metric("power_draw_watts")), "", ""};
    case UsagePart::lost:
      return {std::string(families::kFindingLost), "", ",finding"};
    case UsagePart::stood:
      return {std::string(families::kFinding), "", ",finding"};
  }
  return {};
}

std::string selector_of(const PartWords &words, const std::vector<std::string> &instances) {
  auto matchers = words.matcher;
  if (!instances.empty()) {
    std::string names;
    for (const auto &instance : instances) names += (names.empty() ? "" : "|") + literal(instance);
    matchers += (matchers.empty() ? "" : ",") + fmt::format("instance=~{}", quoted(names));
  }
  return matchers.empty() ? words.family : fmt::format("{}{{{}}}", words.family, matchers);
}

}  // namespace

std::optional<UsagePlan> plan_usage(WallTime from, WallTime to, WallTime now, std::size_t gpus, Seconds interval) {
  using std::chrono::minutes;
  const auto begin = std::chrono::ceil<minutes>(from);
  const auto end = std::chrono::floor<minutes>(std::min<WallTime>(to, now - kUnsettled));
  if (end - begin < kShortestUsage) return std::nullopt;
  const seconds span = end - begin;
  const auto window = window_of(span, gpus, interval);
  // What is no whole one comes first: on its own, or with the next one where it is too short for that.
  auto count = span / window;
  seconds first = span - count * window;
  if (first > 0s && first < kShortestUsage) {
    first += window;
    --count;
  }
  UsagePlan plan{.from = begin, .to = end, .resolution = resolution_of(window), .runs = {}, .window = window};
  if (first > 0s) plan.runs.push_back({.first_end = begin + first, .count = 1, .window = first});
  if (count > 0) {
    plan.runs.push_back(
        {.first_end = begin + first + window, .count = static_cast<std::size_t>(count), .window = window});
  }
  return plan;
}

bool counts_moments(UsagePart part) {
  return part == UsagePart::present || part == UsagePart::held || part == UsagePart::stood;
}

std::string usage_query(UsagePart part, const std::vector<std::string> &instances, seconds window, seconds resolution) {
  const auto words = words_of(part);
  const auto selector = selector_of(words, instances);
  // Two Prometheus that scrape the same agent are told apart by labels of their own, which do not matter here. Some
  // engines count both ends of a stretch as part of it: one millisecond less leaves no moment to two of them.
  const auto value = counts_moments(part)
                         ? fmt::format("count_over_time({}[{}ms:{}s])", selector,
                                       std::chrono::milliseconds(window).count() - 1, resolution.count())
                         : fmt::format("increase({}[{}s])", selector, window.count());
  return fmt::format("max by (instance,uuid{}) ({})", words.labels, value);
}

std::string interval_query() {
  const auto values = fmt::format("{}[1h]", view::families::kTime);
  return fmt::format("quantile(0.5,(max_over_time({0})-min_over_time({0}))/((count_over_time({0})>1)-1))", values);
}

}  // namespace gpulse::fleet
