// SPDX-License-Identifier: Apache-2.0
#include "insight/series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpulse::insight {

namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Values that follow each other and are all stalled, or all at work.
struct Run {
  bool stalled = false;
  std::size_t values = 0;
  double begin = 0, end = 0;  // halfway to the values before and after
};

std::vector<Run> runs_of(const Series &series, double low, double high) {
  std::vector<Run> runs;
  const auto times = series.times();
  const auto values = series.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    bool stalled = values[i] <= low;
    // Between the two it goes on as before.
    if (!runs.empty() && values[i] > low && values[i] < high) stalled = runs.back().stalled;
    const double begin = i == 0 ? times[i] : (times[i - 1] + times[i]) / 2;
    const double end = i + 1 == values.size() ? times[i] : (times[i] + times[i + 1]) / 2;
    if (runs.empty() || runs.back().stalled != stalled) runs.push_back({.stalled = stalled, .begin = begin});
    runs.back().end = end;
    ++runs.back().values;
  }
  return runs;
}

}  // namespace

std::optional<double> Series::mean() const {
  if (empty()) return std::nullopt;
  return mean_of(values_);
}

std::optional<double> Series::steady_mean() const {
  constexpr double kTenth = 0.1;
  if (empty()) return std::nullopt;
  auto sorted = values_;
  std::ranges::sort(sorted);
  const auto dropped = static_cast<std::size_t>(std::ceil(kTenth * static_cast<double>(sorted.size() - 1)));
  return mean_of(std::span(sorted).first(sorted.size() - dropped));
}

std::optional<double> Series::first() const { return empty() ? std::nullopt : std::optional(values_.front()); }

std::optional<double> Series::last() const { return empty() ? std::nullopt : std::optional(values_.back()); }

std::optional<double> Series::quantile(double share) const {
  if (empty()) return std::nullopt;
  auto sorted = values_;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
  std::ranges::nth_element(sorted, sorted.begin() + place);
  return sorted[static_cast<std::size_t>(place)];
}

std::optional<double> Series::share_from(double least) const {
  if (empty()) return std::nullopt;
  const auto count = std::ranges::count_if(values_, [&](double value) { return value >= least; });
  return static_cast<double>(count) / static_cast<double>(size());
}

std::optional<Trend> trend(const Series &series) {
  constexpr std::size_t kFewest = 3;
  if (series.size() < kFewest) return std::nullopt;
  const auto times = series.times();
  const auto values = series.values();
  const double mean_time = mean_of(times), mean_value = mean_of(values);
  double tt = 0, tv = 0, vv = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double t = times[i] - mean_time, v = values[i] - mean_value;
    tt += t * t;
    tv += t * v;
    vv += v * v;
  }
  if (tt <= 0) return std::nullopt;
  return Trend{.per_second = tv / tt, .fit = vv > 0 ? tv * tv / (tt * vv) : 0};
}

Stalls find_stalls(const Series &series, double low, double high) {
  constexpr std::size_t kFewestValues = 2;
  const auto runs = runs_of(series, low, high);
  Stalls stalls;
  std::vector<double> stalled, busy;
  double lost = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto &run = runs[i];
    const double length = run.end - run.begin;
    if (run.stalled && run.values >= kFewestValues) lost += length;
    const bool inner = i > 0 && i + 1 < runs.size();
    if (!run.stalled) busy.push_back(length);
    if (!run.stalled || run.values < kFewestValues) continue;
    if (inner && stalled.empty()) stalls.first_work = runs[i - 1].end - runs[i - 1].begin;
    if (inner) stalled.push_back(length);
    stalls.at_begin = stalls.at_begin || i == 0;
    if (i + 1 == runs.size()) {
      stalls.at_end = true;
      stalls.end_seconds = length;
    }
  }
  const double all = runs.empty() ? 0 : runs.back().end - runs.front().begin;
  stalls.count = stalled.size();
  stalls.seconds = median_of(std::move(stalled));
  stalls.busy_seconds = median_of(std::move(busy));
  stalls.share = all > 0 ? lost / all : 0;
  return stalls;
}

}  // namespace gpulse::insight
