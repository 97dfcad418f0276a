// SPDX-License-Identifier: Apache-2.0
// The samples of a history as they were: chunk by chunk, and those not packed yet. One thread.
#pragma once

#include <unordered_map>
#include <vector>

#include "history/database.hpp"
#include "history/raw.hpp"

namespace gpulse::history {

struct TimedSample {
  SnapshotPtr snapshot;
  double seconds = 1;  // how much time it stands for
};

class RawReader {
 public:
  static Result<RawReader> open(Database &database);

  struct Chunk {
    std::vector<TimedSample> samples;
    bool is_damaged = false;  // what comes after the samples, if any, cannot be read
  };
  Result<Chunk> chunk(std::int64_t id);
  Result<Chunk> tail();
  // When the samples were taken; none of a damaged chunk.
  Result<std::vector<WallTime>> times(std::int64_t id);
  Result<std::vector<WallTime>> tail_times();
  // As they are stored; decode() makes samples of them.
  Result<std::vector<RawSample>> packed_tail(std::int64_t &schema);
  Result<Chunk> decode(std::int64_t schema, const std::vector<RawSample> &samples);

 private:
  RawReader(Database &database, Statement chunk, Statement tail)
      : database_(&database), chunk_(std::move(chunk)), tail_(std::move(tail)) {}
  Result<std::optional<std::vector<RawSample>>> stored(std::int64_t id, std::int64_t &schema);
  Result<const codec::SlotMap *> slots(std::int64_t schema);

  Database *database_;
  Statement chunk_, tail_;
  std::unordered_map<std::int64_t, codec::SlotMap> schemas_;
};

}  // namespace gpulse::history
