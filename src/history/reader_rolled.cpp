// SPDX-License-Identifier: Apache-2.0
// What the roll-ups know, in the shape of samples. Who looks at one will look at its neighbours: many are read at once.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "history/process_row.hpp"
#include "history/reader.hpp"
#include "history/times.hpp"

namespace gpulse::history {

namespace {

constexpr std::int64_t kBatch = 32;
constexpr std::size_t kMostBatches = 4;
constexpr auto kEventsBefore = std::chrono::minutes(10);

Span batch_around(const SampleRef &ref) {
  const auto length = kBatch * step(ref.tier);
  const auto from = time_of(begin_of(ref.time, length));
  return {from, from + length};
}

// Sets the readings of the kept metrics that the row has, from this column on. What a counter has grown by is not what
// it is.
void read_row(const Statement &from, int column, Row &row) {
  row.fill(Reason::not_sampled);
  for (const auto &metric : kept_metrics(row.scope())) {
    if (metric.fold != Fold::counter && !from.is_null(column)) row[metric.id] = from.real(column);
    ++column;
  }
}

std::string kept_columns(Scope scope, std::string_view table) {
  std::string columns;
  for (const auto &metric : kept_metrics(scope)) columns += fmt::format(", {}.{}", table, describe(metric.id).key);
  return columns;
}

using Samples = std::vector<std::shared_ptr<Snapshot>>;

std::shared_ptr<Snapshot> sample_at(const Samples &samples, WallTime time) {
  const auto found = std::ranges::lower_bound(samples, time, {}, [](const auto &sample) { return sample->time; });
  return found != samples.end() && (*found)->time == time ? *found : nullptr;
}

// Rows of a table of roll-ups from the span, by time.
Result<Statement> rows_of(Database &database, const std::string &columns, const std::string &tables, const Span &span) {
  auto rows = database.prepare(
      fmt::format("SELECT {} FROM {} WHERE t.time>=? AND t.time<? AND t.turn=0 ORDER BY t.time", columns, tables));
  if (!rows) return rows;
  rows->bind(1, ceiling_of(span.from));
  rows->bind(2, ceiling_of(span.to));
  return rows;
}

}  // namespace

Result<SnapshotPtr> Reader::rolled_sample(const SampleRef &ref) {
  const auto span = batch_around(ref);
  const auto known = std::ranges::find_if(
      rolled_, [&](const RolledBatch &batch) { return batch.tier == ref.tier && batch.span.from == span.from; });
  if (known != rolled_.end()) {
    if (auto sample = sample_at(known->samples, ref.time)) return sample;
    rolled_.erase(known);  // more may have been written since
  }
  RolledBatch batch{.tier = ref.tier, .span = span, .samples = {}};
  if (const auto done = read_batch(batch); !done) return std::unexpected(done.error());
  auto sample = sample_at(batch.samples, ref.time);
  if (rolled_.size() == kMostBatches) rolled_.pop_back();
  rolled_.push_front(std::move(batch));
  return sample;
}

Result<void> Reader::read_batch(RolledBatch &batch) {
  auto rows = rows_of(*database_, "t.time" + kept_columns(Scope::host, "t"),
                      table_name(Scope::host, batch.tier) + " AS t", batch.span);
  if (!rows) return std::unexpected(rows.error());
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    auto sample = std::make_shared<Snapshot>();
    sample->time = time_of(rows->integer(0));
    sample->origin = kHistoryOrigin;
    sample->hostname = hostname_;
    read_row(*rows, 1, sample->host);
    batch.samples.push_back(std::move(sample));
  }
  if (const auto done = add_rolled_devices(batch); !done) return done;
  if (const auto done = add_changes(batch); !done) return done;
  if (const auto done = add_rolled_processes(batch); !done) return done;
  return add_rolled_events(batch);
}

Result<void> Reader::add_rolled_devices(RolledBatch &batch) {
  auto rows = rows_of(*database_, "t.time, t.device" + kept_columns(Scope::device, "t"),
                      table_name(Scope::device, batch.tier) + " AS t", batch.span);
  if (!rows) return std::unexpected(rows.error());
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    const auto sample = sample_at(batch.samples, time_of(rows->integer(0)));
    const auto *known = device(rows->integer(1));
    if (sample == nullptr || known == nullptr) continue;
    auto &made = sample->devices.emplace_back(Device{.id = known->number, .identity = known->identity});
    read_row(*rows, 2, made.row);
  }
  for (const auto &sample : batch.samples) std::ranges::sort(sample->devices, {}, &Device::id);
  return {};
}

// What hardly changes is as it was when it changed last.
Result<void> Reader::add_changes(RolledBatch &batch) {
  const auto length = step(batch.tier);
  std::map<const DeviceIdentity *, Row> now;
  auto last =
      database_->prepare("SELECT metric, value, max(time) FROM change WHERE device=? AND time<? GROUP BY metric");
  if (!last) return std::unexpected(last.error());
  for (const auto &known : devices_) {
    auto &row = now.try_emplace(known.identity.get(), Scope::device).first->second;
    last->bind(1, known.id);
    last->bind(2, seconds_of(batch.span.from));
    Result<bool> next = false;
    while ((next = last->step()) && *next) {
      const auto metric = find_metric(Scope::device, last->text(0));
      if (metric && !is_text(key_of(*metric)) && !last->is_null(1)) row[*metric] = last->real(1);
    }
    last->reset();
    if (!next) return std::unexpected(next.error());
  }
  const auto later = changes({batch.span.from, batch.span.to + length});
  if (!later) return std::unexpected(later.error());
  auto change = later->begin();
  for (const auto &sample : batch.samples) {
    for (; change != later->end() && change->time <= sample->time + length; ++change) {
      const auto *known = device(change->device);
      if (known != nullptr) now.at(known->identity.get())[change->metric] = change->reading;
    }
    for (auto &each : sample->devices) {
      const auto &row = now.at(each.identity.get());
      for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
        if (kept(metric) == Kept::changes && row[id]) each.row[id] = row[id];
      });
    }
  }
  return {};
}

Result<void> Reader::add_rolled_processes(RolledBatch &batch) {
  // They are only known by the minute.
  const auto from = time_of(begin_of(batch.span.from, Tier::minute));
  auto rows = rows_of(*database_, process_columns(*database_, "p") + kept_columns(Scope::process, "t") + ", t.time",
                      "process_1min AS t JOIN process AS p ON p.id=t.process", {from, batch.span.to});
  if (!rows) return std::unexpected(rows.error());
  const auto time_column = process_column_count() + static_cast<int>(kept_metrics(Scope::process).size());
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
    auto known = read_process(*rows);
    const auto *on = device(known.device);
    if (on == nullptr) continue;
    Process process;
    process.pid = known.pid;
    process.device = on->number;
    process.types = types_named(known.type);
    read_row(*rows, process_column_count(), process.row);
    process.texts = std::make_shared<const TextRow>(std::move(known.texts));
    const auto minute = time_of(rows->integer(time_column));
    for (const auto &sample : batch.samples) {
      if (sample->time < minute || sample->time >= minute + step(Tier::minute)) continue;
      if (known.last < sample->time || known.first >= sample->time + step(batch.tier)) continue;
      sample->processes.push_back(process);
    }
  }
}

Result<void> Reader::add_rolled_events(RolledBatch &batch) {
  const auto all = events({batch.span.from - kEventsBefore, batch.span.to});
  if (!all) return std::unexpected(all.error());
  for (const auto &sample : batch.samples) {
    std::vector<Event> recent;
    std::ranges::copy_if(*all, std::back_inserter(recent), [&](const Event &event) {
      return event.time >= sample->time - kEventsBefore && event.time < sample->time + step(batch.tier);
    });
    sample->events = std::move(recent);
  }
  return {};
}

}  // namespace gpulse::history
