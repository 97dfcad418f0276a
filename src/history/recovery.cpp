// SPDX-License-Identifier: Apache-2.0
// How a store goes on from what is in its file: the stretches of time that were not over are folded again from the
// samples that belong to them.
#include <fmt/format.h>

#include "history/raw_reader.hpp"
#include "history/store.hpp"
#include "history/times.hpp"

namespace gpulse::history {

namespace {

bool is_about_the_same_minute(WallTime before, WallTime last) {
  const auto margin = std::chrono::seconds(30);
  const auto begin = time_of(begin_of(last, Tier::minute));
  return before >= begin - margin && before < begin + step(Tier::minute);
}

}  // namespace

Result<void> Store::recover() {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  if (const auto done = recover_changes(); !done) return done;
  const auto last_event = database_.integer("SELECT CAST(max(time) AS INTEGER) FROM event");
  if (!last_event) return std::unexpected(last_event.error());
  // Whole seconds: one more, so that none comes twice.
  if (*last_event) last_event_ = static_cast<double>(**last_event) + 1;
  auto reader = RawReader::open(database_);
  if (!reader) return std::unexpected(reader.error());
  std::int64_t schema = 0;
  auto packed = reader->packed_tail(schema);
  if (!packed) return std::unexpected(packed.error());
  auto tail = reader->decode(schema, *packed);
  if (!tail) return std::unexpected(tail.error());
  const auto whole = tail->samples.size();
  if (const auto done = read_back(*reader, tail->samples); !done) return done;
  for (const auto &sample : tail->samples) {
    if (const auto done = fold(sample, true); !done) return done;
  }
  // What comes after a damaged one stands for nothing without it.
  packed->resize(whole);
  if (!packed->empty()) {
    tail_ = std::move(*packed);
    schema_ = schema;
    if (const auto done = pack_tail(); !done) return done;
    schema_.reset();
  }
  if (const auto done = database_.run("DELETE FROM raw_tail"); !done) return done;
  return transaction->commit();
}

// What belongs to the minute of the last sample, and what a counter was at before it.
Result<void> Store::read_back(RawReader &reader, std::vector<TimedSample> &samples) {
  constexpr int kMostChunks = 100;  // there is a new one with every start
  auto newest = database_.integer("SELECT max(id) FROM raw");
  for (int chunks = 0; chunks < kMostChunks && newest && *newest; ++chunks) {
    const bool is_enough =
        !samples.empty() && !is_about_the_same_minute(samples.front().snapshot->time, samples.back().snapshot->time);
    if (is_enough) return {};
    auto chunk = reader.chunk(**newest);
    if (!chunk) return std::unexpected(chunk.error());
    samples.insert(samples.begin(), chunk->samples.begin(), chunk->samples.end());
    newest = database_.integer(fmt::format("SELECT max(id) FROM raw WHERE id<{}", **newest));
  }
  if (!newest) return std::unexpected(newest.error());
  return {};
}

Result<void> Store::recover_changes() {
  auto newest = database_.prepare("SELECT device, metric, value, max(id) FROM change GROUP BY device, metric");
  if (!newest) return std::unexpected(newest.error());
  while (true) {
    const auto row = newest->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
    const auto metric = find_metric(Scope::device, newest->text(1));
    if (!metric) continue;
    changes_[{newest->integer(0), metric->index}] =
        newest->is_null(2) ? Reading(Reason::not_supported) : Reading(newest->real(2));
  }
}

}  // namespace gpulse::history
