// SPDX-License-Identifier: Apache-2.0
#include "history/raw_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gpulse::history {

Result<RawReader> RawReader::open(Database &database) {
  auto chunk = database.prepare("SELECT schema, data FROM raw WHERE id=?");
  if (!chunk) return std::unexpected(chunk.error());
  auto tail = database.prepare("SELECT time, seconds, schema, data FROM raw_tail ORDER BY id");
  if (!tail) return std::unexpected(tail.error());
  return RawReader(database, std::move(*chunk), std::move(*tail));
}

// A schema that cannot be read leaves its samples unread, nothing else.
Result<const codec::SlotMap *> RawReader::slots(std::int64_t schema) {
  if (const auto known = schemas_.find(schema); known != schemas_.end()) return &known->second;
  auto statement = database_->prepare(fmt::format("SELECT body FROM raw_schema WHERE id={}", schema));
  if (!statement) return std::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return nullptr;
  codec::WireReader in(statement->blob(0));
  auto slots = codec::decode_schema(in);
  if (!slots) return nullptr;
  return &schemas_.emplace(schema, std::move(*slots)).first->second;
}

Result<RawReader::Chunk> RawReader::decode(std::int64_t schema, const std::vector<RawSample> &samples) {
  Chunk chunk;
  if (samples.empty()) return chunk;
  const auto known = slots(schema);
  if (!known) return std::unexpected(known.error());
  if (*known == nullptr) return Chunk{.samples = {}, .is_damaged = true};
  RawDecoder decoder;
  decoder.restart(**known);
  for (const auto &sample : samples) {
    auto snapshot = decoder.decode(sample.time, sample.data);
    if (!snapshot) {
      chunk.is_damaged = true;
      break;
    }
    chunk.samples.push_back({.snapshot = std::move(snapshot), .seconds = sample.seconds});
  }
  return chunk;
}

// None: damaged. Nothing: taken away in the meantime.
Result<std::optional<std::vector<RawSample>>> RawReader::stored(std::int64_t id, std::int64_t &schema) {
  chunk_.bind(1, id);
  const auto row = chunk_.step();
  std::optional<std::vector<RawSample>> samples{std::in_place};
  if (row && *row) {
    schema = chunk_.integer(0);
    samples = unpack(chunk_.blob(1));
  }
  chunk_.reset();
  if (!row) return std::unexpected(row.error());
  return samples;
}

Result<RawReader::Chunk> RawReader::chunk(std::int64_t id) {
  std::int64_t schema = 0;
  const auto samples = stored(id, schema);
  if (!samples) return std::unexpected(samples.error());
  if (!*samples) return Chunk{.samples = {}, .is_damaged = true};
  return decode(schema, **samples);
}

Result<std::vector<WallTime>> RawReader::times(std::int64_t id) {
  std::int64_t schema = 0;
  const auto samples = stored(id, schema);
  if (!samples) return std::unexpected(samples.error());
  std::vector<WallTime> times;
  if (*samples) std::ranges::transform(**samples, std::back_inserter(times), &RawSample::time);
  return times;
}

Result<std::vector<WallTime>> RawReader::tail_times() {
  std::int64_t schema = 0;
  const auto samples = packed_tail(schema);
  if (!samples) return std::unexpected(samples.error());
  std::vector<WallTime> times;
  std::ranges::transform(*samples, std::back_inserter(times), &RawSample::time);
  return times;
}

Result<std::vector<RawSample>> RawReader::packed_tail(std::int64_t &schema) {
  std::vector<RawSample> samples;
  Result<bool> row = false;
  while ((row = tail_.step()) && *row) {
    schema = tail_.integer(2);
    const auto data = tail_.blob(3);
    samples.push_back({.time = WallTime(std::chrono::nanoseconds(tail_.integer(0))),
                       .seconds = tail_.real(1),
                       .data = {data.begin(), data.end()}});
  }
  tail_.reset();
  if (!row) return std::unexpected(row.error());
  return samples;
}

Result<RawReader::Chunk> RawReader::tail() {
  std::int64_t schema = 0;
  const auto samples = packed_tail(schema);
  if (!samples) return std::unexpected(samples.error());
  return decode(schema, *samples);
}

}  // namespace gpulse::history
