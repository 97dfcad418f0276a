// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_past.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "fleet/engine_values.hpp"
#include "fleet/host_samples.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

namespace families = view::families;

constexpr std::size_t kMostEvents = 10'000;

}  // namespace

std::string errors_query(const HostPlace &host) {
  return fmt::format("max by (uuid,xid) ({}{})", families::kXidTime, host_matchers(host));
}

std::vector<Event> error_events(std::span<const EngineSeries> answer, WallTime from, WallTime to) {
  const double first = Seconds(from.time_since_epoch()).count(), last = Seconds(to.time_since_epoch()).count();
  std::set<std::tuple<double, std::string, std::uint32_t>> errors;
  for (const auto &series : answer) {
    const auto code = parse_integer<std::uint32_t>(series.label("xid"));
    if (!code) continue;
    for (const auto &point : series.points) {
      if (!(point.value >= first && point.value <= last) || errors.size() >= kMostEvents) continue;
      errors.emplace(point.value, short_text(series.label("uuid")).str(), *code);
    }
  }
  std::vector<Event> events;
  for (const auto &[seconds, uuid, code] : errors) {
    events.push_back({.time = WallTime(std::chrono::milliseconds(std::llround(seconds * 1e3))),
                      .device = uuid,
                      .kind = EventKind::xid,
                      .code = code,
                      .text = fmt::format("driver error XID {}", code)});
  }
  return events;
}

std::string findings_query(const HostPlace &host) {
  return fmt::format("max by (uuid,finding) ({}{} == 1)", families::kFinding, host_matchers(host));
}

std::vector<Stretch> stretches_of(const EngineSeries &series, WallTime first, WallTime last,
                                  std::chrono::seconds step) {
  std::vector<Stretch> stretches;
  const auto gap = Seconds(step).count() * 1.5;
  // Before this it may have been there already; the engine is asked in whole milliseconds.
  const auto second_step = Seconds(first.time_since_epoch()).count() + Seconds(step).count() - 1e-2;
  std::optional<double> before;
  for (const auto &point : series.points) {
    const auto exact = moment_at(point.time);
    if (!exact) continue;
    const WallTime time = std::chrono::round<std::chrono::seconds>(*exact);
    const bool goes_on = before && point.time - *before < gap;
    if (!goes_on) stretches.push_back({.begin = point.time < second_step ? std::nullopt : std::optional(time)});
    const auto after = time + step;
    stretches.back().end = after > last ? std::nullopt : std::optional(after);
    before = point.time;
  }
  return stretches;
}

std::vector<FindingStretch> finding_stretches(std::span<const EngineSeries> answer, WallTime first, WallTime last,
                                              std::chrono::seconds step) {
  std::vector<FindingStretch> stretches;
  for (const auto &series : answer) {
    const auto id = short_text(series.label("finding")), uuid = short_text(series.label("uuid"));
    for (const auto &[begin, end] : stretches_of(series, first, last, step)) {
      if (stretches.size() < kMostEvents) stretches.push_back({.id = id, .uuid = uuid, .begin = begin, .end = end});
    }
  }
  std::ranges::stable_sort(stretches, {}, [](const FindingStretch &one) { return one.begin.value_or(WallTime()); });
  return stretches;
}

}  // namespace gpulse::fleet
