// SPDX-License-Identifier: Apache-2.0
#include "tui/time_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "term/plot.hpp"

namespace gpulse::tui {

using std::chrono::nanoseconds;
using std::chrono::seconds;

namespace {

constexpr nanoseconds kUnknownSpacing = seconds(1);
// More than this many intervals without a sample are a gap, fewer a sample that came late.
constexpr double kLate = 2.5;
// Slots reach back before the first sample where there are gaps.
constexpr std::uint64_t kSlotOfFirst = std::uint64_t{1} << 40U;

// The usual time between the last few samples.
nanoseconds usual_spacing(std::span<const WallTime> times) {
  constexpr std::size_t kLooked = 9;
  std::array<nanoseconds, kLooked> found{};
  std::size_t count = 0;
  for (std::size_t i = times.size(); i-- > 1 && count < kLooked;) {
    const auto passed = times[i] - times[i - 1];
    if (passed > nanoseconds(0)) found[count++] = passed;
  }
  if (count == 0) return kUnknownSpacing;
  const auto middle = found.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(found.begin(), middle, found.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

double ratio(nanoseconds a, nanoseconds b) { return static_cast<double>(a.count()) / static_cast<double>(b.count()); }

}  // namespace

TimeGrid::TimeGrid(std::span<const WallTime> times, std::uint64_t number, int zoom)
    : zoom_(zoom), spacing_(usual_spacing(times)), newest_(times.empty() ? WallTime() : times.back()) {
  bool even = true;
  auto slot = kSlotOfFirst + number;
  places_.resize(times.size());
  for (std::size_t i = times.size(); i-- > 0;) {
    const auto passed = i > 0 ? times[i] - times[i - 1] : spacing_;
    // A clock that was set back is no reason to draw over what is there.
    const auto slots = std::clamp<std::int64_t>(std::llround(ratio(passed, spacing_)), 1, 1 << 20);
    // The interval of its neighbour: older samples may have been taken at a longer one.
    const auto beside = i > 1 ? times[i - 1] - times[i - 2] : times.size() > 2 ? times[2] - times[1] : spacing_;
    const bool gap = ratio(passed, std::max(spacing_, beside)) > kLate;
    const auto covered = gap ? 1 : static_cast<std::uint64_t>(slots);
    places_[i] = {slot, slot - covered + 1};
    slot -= std::min(slot, static_cast<std::uint64_t>(slots));
    even = even && slots == 1;
  }
  if (even && zoom == 1) places_.clear();
}

std::span<const float> TimeGrid::dots(std::span<const float> values, std::vector<float> &room) const {
  if (places_.empty() || values.empty()) return values;
  const auto places = std::span(places_).last(std::min(values.size(), places_.size()));
  const auto shown = values.last(places.size());
  const auto zoom = static_cast<std::uint64_t>(zoom_);
  const auto newest = places.back().slot / zoom;
  constexpr std::uint64_t kMostDots = 4096;  // more than any terminal has
  const auto oldest = std::max(places.front().from / zoom, newest - std::min(newest, kMostDots));
  const auto count = static_cast<std::size_t>(newest - oldest + 1);
  room.assign(count, 0);
  std::vector<std::uint16_t> seen(count);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (std::isnan(shown[i]) || places[i].slot / zoom < oldest) continue;
    for (auto dot = std::max(places[i].from / zoom, oldest); dot <= places[i].slot / zoom; ++dot) {
      room[dot - oldest] += shown[i];
      ++seen[dot - oldest];
    }
  }
  for (std::size_t i = 0; i < count; ++i) room[i] = seen[i] > 0 ? room[i] / static_cast<float>(seen[i]) : term::kGap;
  return room;
}

std::string span_text(nanoseconds span) {
  const double exact = std::chrono::duration<double>(span).count();
  if (exact < 9.95 && std::abs(exact - std::round(exact)) > 0.05) return fmt::format("{:.2g}s", exact);
  const auto total = std::llround(exact);
  const auto [large, small, unit, part] = total >= 86400  ? std::tuple(total / 86400, total % 86400 / 3600, 'd', 'h')
                                          : total >= 3600 ? std::tuple(total / 3600, total % 3600 / 60, 'h', 'm')
                                                          : std::tuple(total / 60, total % 60, 'm', 's');
  if (large == 0) return fmt::format("{}{}", small, part);
  return small == 0 ? fmt::format("{}{}", large, unit) : fmt::format("{}{}{}{}", large, unit, small, part);
}

std::vector<TimeTick> time_ticks(const TimeGrid &grid, int dots, int dots_per_column, bool clock) {
  constexpr std::array kSteps{1,   2,    5,    10,   15,    30,    60,    120,   300,    600,
                              900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};
  // A label, and as much again without one.
  const int apart = (clock ? 16 : 12) * dots_per_column;
  const auto fits = [&](int step) { return ratio(seconds(step), grid.dot()) >= apart; };
  const auto *const found = std::ranges::find_if(kSteps, fits);
  if (found == kSteps.end()) return {};
  const nanoseconds step = seconds(*found);
  // Times of day lie on multiples of the step; without them the newest is where one counts from.
  const auto offset = clock ? grid.newest().time_since_epoch() % step : nanoseconds(0);
  const char *format = *found >= 86400 ? "%b %d" : *found >= 60 ? "%H:%M" : "%H:%M:%S";
  std::vector<TimeTick> ticks;
  for (auto age = clock ? offset : step; ratio(age, grid.dot()) < dots; age += step) {
    if (age == nanoseconds(0)) continue;
    ticks.push_back({static_cast<int>(std::lround(ratio(age, grid.dot()))),
                     clock ? local_time(grid.newest() - age, format) : "-" + span_text(age)});
  }
  return ticks;
}

}  // namespace gpulse::tui
