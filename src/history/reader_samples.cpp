// SPDX-License-Identifier: Apache-2.0
// The samples themselves: as they were, and for the time before those, what the roll-ups know in the shape of a sample.
#include <fmt/format.h>

#include <algorithm>

#include "history/process_row.hpp"
#include "history/reader.hpp"
#include "history/times.hpp"

namespace gpulse::history {

namespace {

constexpr const char *kOrigin = "HISTORY";
constexpr auto kEventsBefore = std::chrono::minutes(10);

std::int64_t nanoseconds_of(WallTime time) { return time.time_since_epoch().count(); }

struct ChunkEntry {
  std::int64_t id = 0;  // 0: the tail
  WallTime first{};
};

// Chunks that have something of the span, in the order in which they were written; the tail comes last.
Result<std::vector<ChunkEntry>> chunks_of(Database &database, const Span &span) {
  auto rows = database.prepare("SELECT id, first_time FROM raw WHERE first_time<? AND last_time>=? ORDER BY id");
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, nanoseconds_of(span.to));
  rows->bind(2, nanoseconds_of(span.from));
  std::vector<ChunkEntry> chunks;
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    chunks.push_back({rows->integer(0), WallTime(std::chrono::nanoseconds(rows->integer(1)))});
  }
  chunks.push_back({});
  return chunks;
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

}  // namespace

Result<void> Reader::each_sample(const Span &span, const Take &take, const Progress &progress) {
  const auto chunks = chunks_of(*database_, span);
  if (!chunks) return std::unexpected(chunks.error());
  std::optional<TimedSample> before;
  bool is_begun = false;
  for (std::size_t i = 0; i < chunks->size(); ++i) {
    const auto chunk = (*chunks)[i].id == 0 ? raw_.tail() : raw_.chunk((*chunks)[i].id);
    if (!chunk) return std::unexpected(chunk.error());
    damaged_ += chunk->is_damaged ? 1U : 0U;
    for (const auto &sample : chunk->samples) {
      if (!span.contains(sample.snapshot->time)) {
        if (!is_begun && sample.snapshot->time < span.from) before = sample;
        continue;
      }
      if (!std::exchange(is_begun, true) && before) take(*before);
      take(sample);
    }
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(chunks->size()));
  }
  return {};
}

Result<std::vector<SampleRef>> Reader::samples(const Span &span, const Progress &progress) {
  std::vector<SampleRef> refs;
  const auto chunks = chunks_of(*database_, span);
  if (!chunks) return std::unexpected(chunks.error());
  for (std::size_t i = 0; i < chunks->size(); ++i) {
    const auto id = (*chunks)[i].id;
    const auto times = id == 0 ? raw_.tail_times() : raw_.times(id);
    if (!times) return std::unexpected(times.error());
    for (const auto time : *times) {
      if (span.contains(time)) refs.push_back({time, Tier::raw});
    }
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(chunks->size()));
  }
  std::ranges::sort(refs, {}, &SampleRef::time);
  auto until = refs.empty() ? span.to : refs.front().time;
  for (const auto tier : {Tier::ten_seconds, Tier::minute}) {
    auto rows = database_->prepare(fmt::format("SELECT DISTINCT time FROM {} WHERE time>=? AND time<? ORDER BY time",
                                               table_name(Scope::host, tier)));
    if (!rows) return std::unexpected(rows.error());
    rows->bind(1, ceiling_of(span.from));
    rows->bind(2, begin_of(until, tier));
    std::vector<SampleRef> earlier;
    while (true) {
      const auto row = rows->step();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      earlier.push_back({time_of(rows->integer(0)), tier});
    }
    if (!earlier.empty()) until = earlier.front().time;
    refs.insert(refs.begin(), earlier.begin(), earlier.end());
  }
  return refs;
}

Result<SnapshotPtr> Reader::sample(const SampleRef &ref) {
  return ref.tier == Tier::raw ? raw_sample(ref.time) : rolled_sample(ref);
}

Result<SnapshotPtr> Reader::raw_sample(WallTime time) {
  const auto find = [&]() -> const TimedSample * {
    const auto found =
        std::ranges::find(cached_, time, [](const TimedSample &sample) { return sample.snapshot->time; });
    return found == cached_.end() ? nullptr : &*found;
  };
  const auto *found = find();
  if (found == nullptr) {
    const auto chunks = chunks_of(*database_, {time, time + std::chrono::nanoseconds(1)});
    if (!chunks) return std::unexpected(chunks.error());
    for (const auto &entry : *chunks) {
      auto chunk = entry.id == 0 ? raw_.tail() : raw_.chunk(entry.id);
      if (!chunk) return std::unexpected(chunk.error());
      cached_ = std::move(chunk->samples);
      found = find();
      if (found != nullptr) break;
    }
  }
  if (found == nullptr) return SnapshotPtr();
  auto marked = std::make_shared<Snapshot>(*found->snapshot);
  marked->origin = kOrigin;
  return marked;
}

Result<SnapshotPtr> Reader::rolled_sample(const SampleRef &ref) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = ref.time;
  snapshot->hostname = hostname_;
  snapshot->origin = kOrigin;
  auto host = database_->prepare(fmt::format("SELECT time{} FROM {} AS t WHERE time=? LIMIT 1",
                                             kept_columns(Scope::host, "t"), table_name(Scope::host, ref.tier)));
  if (!host) return std::unexpected(host.error());
  host->bind(1, begin_of(ref.time, ref.tier));
  const auto row = host->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return SnapshotPtr();
  read_row(*host, 1, snapshot->host);
  if (const auto done = add_rolled_devices(ref, *snapshot); !done) return std::unexpected(done.error());
  if (const auto done = add_rolled_processes(ref, *snapshot); !done) return std::unexpected(done.error());
  auto happened = events({ref.time - kEventsBefore, ref.time + step(ref.tier)});
  if (!happened) return std::unexpected(happened.error());
  snapshot->events = std::move(*happened);
  return snapshot;
}

Result<void> Reader::add_rolled_devices(const SampleRef &ref, Snapshot &snapshot) {
  auto rows = database_->prepare(fmt::format("SELECT device{} FROM {} AS t WHERE time=? AND turn=0",
                                             kept_columns(Scope::device, "t"), table_name(Scope::device, ref.tier)));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, begin_of(ref.time, ref.tier));
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    const auto *known = device(rows->integer(0));
    if (known == nullptr) continue;
    Device made{.id = known->number, .identity = known->identity};
    read_row(*rows, 1, made.row);
    // What hardly changes is as it was when it changed last.
    auto last =
        database_->prepare("SELECT metric, value, max(time) FROM change WHERE device=? AND time<=? GROUP BY metric");
    if (!last) return std::unexpected(last.error());
    last->bind(1, known->id);
    last->bind(2, seconds_of(ref.time + step(ref.tier)));
    Result<bool> next = false;
    while ((next = last->step()) && *next) {
      const auto metric = find_metric(Scope::device, last->text(0));
      if (metric && !is_text(key_of(*metric)) && !last->is_null(1)) made.row[*metric] = last->real(1);
    }
    if (!next) return std::unexpected(next.error());
    snapshot.devices.push_back(std::move(made));
  }
  std::ranges::sort(snapshot.devices, {}, &Device::id);
  return {};
}

Result<void> Reader::add_rolled_processes(const SampleRef &ref, Snapshot &snapshot) {
  auto rows = database_->prepare(
      fmt::format("SELECT {}{} FROM process_1min AS m JOIN process AS p ON p.id=m.process WHERE m.time=? AND m.turn=0",
                  process_columns("p"), kept_columns(Scope::process, "m")));
  if (!rows) return std::unexpected(rows.error());
  rows->bind(1, begin_of(ref.time, Tier::minute));
  while (true) {
    const auto row = rows->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
    auto known = read_process(*rows);
    const auto *on = device(known.device);
    if (on == nullptr || known.last < ref.time || known.first >= ref.time + step(ref.tier)) continue;
    Process process;
    process.pid = known.pid;
    process.device = on->number;
    process.types = types_named(known.type);
    read_row(*rows, process_column_count(), process.row);
    process.texts = std::make_shared<const TextRow>(std::move(known.texts));
    snapshot.processes.push_back(std::move(process));
  }
}

}  // namespace gpulse::history
