// SPDX-License-Identifier: Apache-2.0
// Curves: from the roll-ups where they are fine enough, from the samples where not.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "history/reader.hpp"
#include "history/times.hpp"

namespace gpulse::history {

namespace {

// One curve while it is read: rows of the same stretch of time become one point.
class Curve {
 public:
  Curve(MetricId metric, std::int64_t device, std::chrono::seconds step)
      : series_{.metric = metric, .device = device, .points = {}, .ends = {}},
        fold_(fold(describe(metric))),
        step_(step) {}

  void add(WallTime time, const Folded &row, double seconds) {
    if (!row.value) return;
    const auto begin = begin_of(time, step_);
    if (!begin_ || begin != *begin_) end();
    begin_ = begin;
    merging_.add(row, seconds);
    seconds_ += seconds;
  }
  Series take() {
    end();
    return std::move(series_);
  }

 private:
  void end() {
    if (begin_) {
      const auto folded = merging_.folded();
      series_.points.push_back({time_of(*begin_), folded.value.value_or(0), folded.least, folded.greatest, seconds_});
    }
    begin_.reset();
    merging_ = Merging(fold_);
    seconds_ = 0;
  }

  Series series_;
  Fold fold_;
  std::chrono::seconds step_;
  std::optional<std::int64_t> begin_;
  Merging merging_{fold_};
  double seconds_ = 0;
};

bool is_wanted(const RangeQuery &query, std::int64_t device) {
  return query.devices.empty() || std::ranges::find(query.devices, device) != query.devices.end();
}

std::vector<MetricId> of_scope(const RangeQuery &query, Scope scope) {
  std::vector<MetricId> all;
  std::ranges::copy_if(query.metrics, std::back_inserter(all),
                       [&](MetricId id) { return describe(id).scope == scope; });
  return all;
}

bool is_only_raw(MetricId id) {
  const auto what = kept(describe(id));
  return what == Kept::raw;
}

std::chrono::seconds wanted_step(const RangeQuery &query) {
  if (query.step.count() > 0) return query.step;
  const auto length = std::chrono::duration_cast<std::chrono::seconds>(query.span.to - query.span.from);
  return length / static_cast<std::int64_t>(std::max<std::size_t>(query.points, 1));
}

// By time, and those of one time as they came.
void sort_by_time(std::vector<Point> &points) {
  if (std::ranges::is_sorted(points, {}, &Point::time)) return;
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(points[i].time, i); });
  std::vector<Point> sorted;
  sorted.reserve(points.size());
  for (const auto i : order) sorted.push_back(points[i]);
  points = std::move(sorted);
}

// After a step back of the clock the same time comes again; and where the roll-ups end, a stretch has two parts.
void put_in_order(Series &series) {
  sort_by_time(series.points);
  std::vector<Point> merged;
  merged.reserve(series.points.size());
  for (const auto &point : series.points) {
    if (merged.empty() || merged.back().time != point.time || point.seconds == 0) {
      merged.push_back(point);
      continue;
    }
    auto &before = merged.back();
    Merging both(fold(describe(series.metric)));
    for (const auto &each : {before, point})
      both.add({.value = each.value, .least = each.least, .greatest = each.greatest}, each.seconds);
    const auto folded = both.folded();
    before = {point.time, folded.value.value_or(0), folded.least, folded.greatest, before.seconds + point.seconds};
  }
  series.points = std::move(merged);
}

// Adds the points that come after those that are there.
void join(std::vector<Series> &all, Series more) {
  const auto same = std::ranges::find_if(
      all, [&](const Series &each) { return each.metric == more.metric && each.device == more.device; });
  if (same == all.end()) {
    all.push_back(std::move(more));
    return;
  }
  same->points.insert(same->points.end(), more.points.begin(), more.points.end());
}

// Curves made of samples.
class RawCurves {
 public:
  // `has_changes`: what hardly changes has its curve already. What comes before `from` only tells what counters were
  // at.
  RawCurves(const RangeQuery &query, WallTime from, std::span<const KnownDevice> devices, bool has_changes)
      : query_(query),
        from_(from),
        of_devices_(of_scope(query, Scope::device)),
        of_host_(of_scope(query, Scope::host)) {
    for (const auto &device : devices) numbers_.emplace(device.identity->uuid.str(), device.id);
    if (has_changes) std::erase_if(of_devices_, [](MetricId id) { return kept(describe(id)) == Kept::changes; });
  }

  void take(const TimedSample &sample) {
    const auto &now = *sample.snapshot;
    for (const auto metric : of_host_) add(0, metric, now.host, sample);
    for (const auto &device : now.devices) {
      if (!device.identity) continue;
      const auto number = numbers_.find(device.identity->uuid.str());
      if (number == numbers_.end() || !is_wanted(query_, number->second)) continue;
      for (const auto metric : of_devices_) add(number->second, metric, device.row, sample);
    }
  }

  void end(std::vector<Series> &all) {
    for (auto &[key, entry] : entries_) {
      entry.end();
      join(all, entry.curve.take());
    }
  }

 private:
  struct Entry {
    Curve curve;
    MetricFolding folding;
    std::optional<std::int64_t> begin{};
    double seconds = 0;

    Entry(MetricId metric, std::int64_t device, std::chrono::seconds step)
        : curve(metric, device, step), folding(fold(describe(metric))) {}
    void clear() {
      folding.clear();
      seconds = 0;
      begin.reset();
    }
    void end() {
      if (begin) curve.add(time_of(*begin), folding.folded(), seconds);
      clear();
    }
  };

  void add(std::int64_t device, MetricId metric, const Row &row, const TimedSample &sample) {
    if (is_text(key_of(metric)) || !row[metric]) return;
    auto &entry = entries_.try_emplace({device, metric.index}, metric, device, query_.step).first->second;
    const auto begin = begin_of(sample.snapshot->time, query_.step);
    if (entry.begin && *entry.begin != begin) entry.end();
    entry.begin = begin;
    entry.seconds += sample.seconds;
    entry.folding.add(row[metric].value(), sample.snapshot->time, sample.seconds);
    if (sample.snapshot->time < from_) entry.clear();
  }

  const RangeQuery &query_;
  WallTime from_;
  std::vector<MetricId> of_devices_, of_host_;
  std::map<std::string, std::int64_t, std::less<>> numbers_;
  std::map<std::pair<std::int64_t, std::uint16_t>, Entry> entries_;
};

// The columns of some metrics in a table of a scope.
struct RolledColumns {
  std::vector<KeptMetric> metrics{};
  std::string names{};  // each with a comma before it

  RolledColumns(const RangeQuery &query, Scope scope) {
    for (const auto id : of_scope(query, scope)) {
      const auto place = kept_place(id);
      if (!place) continue;
      metrics.push_back(kept_metrics(scope)[*place]);
      names += fmt::format(", {}", describe(id).key);
      if (metrics.back().has_range) names += fmt::format(", {}, {}", least_column(id), greatest_column(id));
    }
  }
};

// The value at the column, which is then that of the next metric.
Folded take_folded(const Statement &row, int &column, bool has_range) {
  const auto at = std::exchange(column, column + (has_range ? 3 : 1));
  if (row.is_null(at)) return {};
  const auto value = row.real(at);
  return {
      .value = value, .least = has_range ? row.real(at + 1) : value, .greatest = has_range ? row.real(at + 2) : value};
}

}  // namespace

// The coarsest that is fine enough; a coarser one where that does not reach back far enough.
Result<Tier> Reader::choose_tier(const RangeQuery &query) {
  if (std::ranges::all_of(query.metrics, is_only_raw)) return Tier::raw;
  const auto reach = coverage();
  if (!reach) return std::unexpected(reach.error());
  const auto wanted = wanted_step(query);
  auto tier = wanted >= step(Tier::minute) / 2        ? Tier::minute
              : wanted >= step(Tier::ten_seconds) / 2 ? Tier::ten_seconds
                                                      : Tier::raw;
  const auto reaches_back = [&](Tier each) {
    const auto &span = reach->of(each);
    return span && span->from <= query.span.from + step(Tier::minute);
  };
  for (const auto coarser : {Tier::ten_seconds, Tier::minute}) {
    if (coarser <= tier || reaches_back(tier)) continue;
    const auto &here = reach->of(tier);
    const auto &there = reach->of(coarser);
    if (there && (!here || there->from + step(coarser) < here->from)) tier = coarser;
  }
  return tier;
}

Result<Range> Reader::range(const RangeQuery &asked, const Progress &progress) {
  auto query = asked;
  const auto tier = choose_tier(query);
  if (!tier) return std::unexpected(tier.error());
  Range range{.tier = *tier, .step = step(*tier), .series = {}};
  const auto wanted = wanted_step(query);
  // Whole steps of the tier.
  if (wanted > range.step) range.step = range.step * ((wanted + range.step - std::chrono::seconds(1)) / range.step);
  query.step = range.step;
  const auto done =
      *tier == Tier::raw ? read_raw(query, query.span, range, progress) : read_tier(query, range, progress);
  if (!done) return std::unexpected(done.error());
  std::ranges::for_each(range.series, put_in_order);
  std::erase_if(range.series, [](const Series &series) { return series.points.empty(); });
  const auto place = [&](const Series &series) {
    const auto metric = std::ranges::find(query.metrics, series.metric) - query.metrics.begin();
    const auto *known = device(series.device);
    return std::pair{metric, known == nullptr ? std::ptrdiff_t{-1} : known - devices_.data()};
  };
  std::ranges::sort(range.series, {}, place);
  return range;
}

Result<void> Reader::read_tier(const RangeQuery &query, Range &range, const Progress &progress) {
  for (const auto scope : {Scope::device, Scope::host}) {
    if (const auto done = read_rolled(query, range, scope); !done) return done;
  }
  if (const auto done = read_changes(query, range); !done) return done;
  const auto rolled = rolled_span(range.tier);
  if (!rolled) return std::unexpected(rolled.error());
  // What is not rolled up yet is in the samples; what never is, as far back as they reach.
  auto rest = query.span;
  if (*rolled) rest.from = std::max(rest.from, (*rolled)->to);
  auto not_yet = query;
  std::erase_if(not_yet.metrics, is_only_raw);
  if (rest.from < rest.to) {
    if (const auto done = read_raw(not_yet, rest, range, {}); !done) return done;
  }
  auto never = query;
  std::erase_if(never.metrics, std::not_fn(is_only_raw));
  return never.metrics.empty() ? Result<void>{} : read_raw(never, query.span, range, progress);
}

Result<void> Reader::read_rolled(const RangeQuery &query, Range &range, Scope scope) {
  const RolledColumns columns(query, scope);
  if (columns.metrics.empty()) return {};
  const bool is_host = scope == Scope::host;
  const auto where = is_host || query.devices.empty()
                         ? std::string()
                         : fmt::format(" AND device IN ({})", fmt::join(query.devices, ","));
  auto rows =
      database_->prepare(fmt::format("SELECT time, seconds, {}{} FROM {} WHERE time>=? AND time<?{} ORDER BY time",
                                     is_host ? "0" : "device", columns.names, table_name(scope, range.tier), where));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, ceiling_of(query.span.from));
  rows->bind(2, ceiling_of(query.span.to));
  std::map<std::int64_t, std::vector<Curve>> curves;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    const auto [known, is_new] = curves.try_emplace(rows->integer(2));
    if (is_new) {
      for (const auto &metric : columns.metrics) known->second.emplace_back(metric.id, known->first, range.step);
    }
    const auto time = time_of(rows->integer(0));
    const auto seconds = rows->real(1);
    int column = 3;
    for (std::size_t i = 0; i < columns.metrics.size(); ++i) {
      known->second[i].add(time, take_folded(*rows, column, columns.metrics[i].has_range), seconds);
    }
  }
  for (auto &[id, all] : curves) {
    for (auto &curve : all) range.series.push_back(curve.take());
  }
  return {};
}

// What hardly changes is as it was until it is another: a point where it changed, and one where the span begins.
Result<void> Reader::read_changes(const RangeQuery &query, Range &range) {
  for (const auto id : of_scope(query, Scope::device)) {
    if (kept(describe(id)) != Kept::changes) continue;
    auto rows =
        database_->prepare("SELECT device, time, value FROM change WHERE metric=? AND time<? ORDER BY device, time");
    if (!rows) return std::unexpected(rows.error());
    rows->bind(1, describe(id).key);
    rows->bind(2, seconds_of(query.span.to));
    Series series{.metric = id, .device = 0, .points = {}, .ends = {}};
    while (true) {
      const auto row = rows->step();
      if (!row) return std::unexpected(row.error());
      if (!*row || rows->integer(0) != series.device) {
        if (!series.points.empty() && is_wanted(query, series.device)) range.series.push_back(series);
        series.points.clear();
        series.ends.clear();
        if (!*row) break;
        series.device = rows->integer(0);
      }
      const auto time = time_of(rows->real(1));
      if (time <= query.span.from) {
        series.points.clear();
        series.ends.clear();
      }
      if (rows->is_null(2)) {
        series.ends.push_back(std::max(time, query.span.from));
      } else {
        const auto value = rows->real(2);
        series.points.push_back({std::max(time, query.span.from), value, value, value});
      }
    }
  }
  return {};
}

Result<void> Reader::read_raw(const RangeQuery &query, const Span &span, Range &range, const Progress &progress) {
  RawCurves curves(query, span.from, devices_, range.tier != Tier::raw);
  const auto done = each_sample(span, [&](const TimedSample &sample) { curves.take(sample); }, progress);
  if (!done) return done;
  curves.end(range.series);
  return {};
}

}  // namespace gpulse::history
