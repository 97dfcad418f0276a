// SPDX-License-Identifier: Apache-2.0
// Who was there: from the minutes of each process, and what is not rolled up yet from the samples.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "history/process_row.hpp"
#include "history/reader.hpp"
#include "history/schema.hpp"
#include "history/times.hpp"

namespace gpulse::history {

namespace {

constexpr int kFixedColumns = 6;

double gpu_seconds(const ProcessUse &use) {
  static const auto kPlace = kept_place(process_metric("gpu_utilization_percent"));
  return kPlace ? use.values[*kPlace].value.value_or(0) * use.seconds : 0;
}

// Of the minutes of one process: the time, and of each kept metric its weighted mean and, where they are kept, the
// least and the greatest.
std::string sums() {
  std::string columns = ", sum(m.seconds)";
  for (const auto &metric : kept_metrics(Scope::process)) {
    const auto key = describe(metric.id).key;
    columns += fmt::format(", sum(m.{0}*m.seconds)/sum(CASE WHEN m.{0} IS NULL THEN 0 ELSE m.seconds END)", key);
    if (!metric.has_range) continue;
    columns += fmt::format(", min(m.{}), max(m.{})", least_column(metric.id), greatest_column(metric.id));
  }
  return columns;
}

void read_sums(const Statement &row, int column, ProcessUse &use) {
  use.seconds = row.real(column++);
  for (const auto &metric : kept_metrics(Scope::process)) {
    Folded folded;
    if (!row.is_null(column)) folded.value = row.real(column);
    folded.least = metric.has_range ? row.real(column + 1) : folded.value.value_or(0);
    folded.greatest = metric.has_range ? row.real(column + 2) : folded.value.value_or(0);
    column += metric.has_range ? 3 : 1;
    use.values.push_back(folded);
  }
}

void merge(ProcessUse &use, const Bucket &bucket) {
  const auto more = bucket.folded();
  const auto metrics = kept_metrics(Scope::process);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    Merging merging(metrics[i].fold);
    merging.add(use.values[i], use.seconds);
    merging.add(more[i], bucket.seconds());
    use.values[i] = merging.folded();
  }
  use.seconds += bucket.seconds();
}

}  // namespace

std::string process_columns(Database &database, std::string_view table) {
  const auto there = column_names(database, "process");
  auto columns = fmt::format("{0}.id, {0}.device, {0}.pid, {0}.type, {0}.first_time, {0}.last_time", table);
  for_each_metric(Scope::process, [&](MetricId, const Metric &metric) {
    if (metric.kind != Kind::text) return;
    columns += there && !there->contains(metric.key) ? ", NULL" : fmt::format(", {}.{}", table, metric.key);
  });
  return columns;
}

int process_column_count() { return kFixedColumns + static_cast<int>(text_count(Scope::process)); }

ProcessUse read_process(const Statement &row) {
  ProcessUse use;
  use.id = row.integer(0);
  use.device = row.integer(1);
  use.pid = static_cast<std::uint32_t>(row.integer(2));
  use.type = row.text(3);
  use.first = time_of(row.real(4));
  use.last = time_of(row.real(5));
  int column = kFixedColumns;
  for (auto &text : use.texts.texts()) {
    if (!row.is_null(column)) text = TextReading(Text(row.text(column)));
    ++column;
  }
  return use;
}

std::uint8_t types_named(std::string_view words) {
  for (std::uint8_t types = 1; types < 8; ++types) {
    if (type_word(types) == words) return types;
  }
  return 0;
}

Result<std::vector<ProcessUse>> Reader::processes(const Span &span, std::span<const std::int64_t> devices,
                                                  const Progress &progress) {
  const auto where = devices.empty() ? std::string() : fmt::format(" AND p.device IN ({})", fmt::join(devices, ","));
  // Joined the way that is cheap: what the minutes say first, then who it was.
  auto rows = database_->prepare(fmt::format(
      "SELECT {}{} FROM process AS p JOIN process_1min AS m ON m.process=p.id WHERE m.time>=? AND m.time<? AND "
      "p.last_time>=? AND p.first_time<?{} GROUP BY m.process",
      process_columns(*database_, "p"), sums(), where));
  if (!rows) return std::unexpected(rows.error());
  const auto minutes = whole_minutes(span);
  if (!minutes) return std::unexpected(minutes.error());
  rows->bind(1, ceiling_of(minutes->from));
  rows->bind(2, ceiling_of(minutes->to));
  rows->bind(3, seconds_of(span.from));
  rows->bind(4, seconds_of(span.to));
  std::vector<ProcessUse> all;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    all.push_back(read_process(*rows));
    read_sums(*rows, process_column_count(), all.back());
  }
  if (progress) progress(0.9);
  for (const auto &part : {Span{span.from, minutes->from}, Span{minutes->to, span.to}}) {
    if (const auto done = add_samples(part, devices, all); !done) return std::unexpected(done.error());
  }
  std::ranges::sort(all, {}, [](const ProcessUse &use) { return std::pair{-gpu_seconds(use), use.id}; });
  return all;
}

// The minutes that can be taken as they are. Those that the span cuts are read from the samples, where they are left.
Result<Span> Reader::whole_minutes(const Span &span) {
  const auto reach = coverage();
  if (!reach) return std::unexpected(reach.error());
  const auto minute = step(Tier::minute);
  const auto begin = [](WallTime time) { return time_of(begin_of(time, Tier::minute)); };
  const auto has_samples = [&](WallTime time) { return reach->raw && reach->raw->from <= time; };
  Span whole{begin(span.from), begin(span.to)};
  if (whole.from < span.from && has_samples(span.from)) whole.from += minute;
  if (whole.to < span.to && !has_samples(whole.to)) whole.to += minute;
  // The last one is not over.
  whole.to = std::min(whole.to, reach->minute ? reach->minute->to : whole.from);
  whole.from = std::min(whole.from, span.to);
  whole.to = std::max(whole.from, whole.to);
  return whole;
}

Result<void> Reader::add_samples(const Span &span, std::span<const std::int64_t> devices,
                                 std::vector<ProcessUse> &all) {
  if (span.from >= span.to) return {};
  std::map<std::string, std::int64_t, std::less<>> numbers;
  for (const auto &device : devices_) numbers.emplace(device.identity->uuid.str(), device.id);
  struct Open {
    Bucket bucket{Scope::process};
    WallTime last{};
  };
  std::map<std::pair<std::int64_t, std::uint32_t>, Open> open;
  const auto take = [&](const TimedSample &sample) {
    const auto &now = *sample.snapshot;
    if (now.time < span.from) return;
    for (const auto &process : now.processes) {
      const auto on = std::ranges::find(now.devices, process.device, &Device::id);
      if (on == now.devices.end() || !on->identity) continue;
      const auto number = numbers.find(on->identity->uuid.str());
      if (number == numbers.end()) continue;
      auto &entry = open[{number->second, process.pid}];
      entry.bucket.add(process.row, now.time, sample.seconds);
      entry.last = now.time;
    }
  };
  if (const auto done = each_sample(span, take, {}); !done) return done;
  auto known = database_->prepare(
      fmt::format("SELECT {} FROM process AS p WHERE device=? AND pid=? AND first_time<=? ORDER BY id DESC LIMIT 1",
                  process_columns(*database_, "p")));
  if (!known) return std::unexpected(known.error());
  for (const auto &[key, entry] : open) {
    if (!devices.empty() && std::ranges::find(devices, key.first) == devices.end()) continue;
    known->bind(1, key.first);
    known->bind(2, std::int64_t{key.second});
    known->bind(3, seconds_of(entry.last));
    const auto row = known->step();
    if (!row) return std::unexpected(row.error());
    if (*row) {
      auto use = read_process(*known);
      auto there = std::ranges::find(all, use.id, &ProcessUse::id);
      if (there == all.end()) {
        use.values.resize(kept_metrics(Scope::process).size());
        there = all.insert(all.end(), std::move(use));
      }
      there->last = std::max(there->last, entry.last);
      merge(*there, entry.bucket);
    }
    known->reset();
  }
  return {};
}

}  // namespace gpulse::history
