// SPDX-License-Identifier: Apache-2.0
// The samples themselves, as they were.
#include <algorithm>

#include "history/reader.hpp"

namespace gpulse::history {

namespace {

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

}  // namespace

Result<void> Reader::each_sample(const Span &span, const Take &take, const Progress &progress) {
  const auto chunks = chunks_of(*database_, span);
  if (!chunks) return std::unexpected(chunks.error());
  std::optional<TimedSample> before;
  bool is_begun = false;
  for (std::size_t i = 0; i < chunks->size(); ++i) {
    // Unpacking takes longer than reading, and is none of the database's business.
    if (database_->has_to_end()) return failure("the time for reading is over");
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
  marked->origin = kHistoryOrigin;
  return marked;
}

}  // namespace gpulse::history
