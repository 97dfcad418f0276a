// SPDX-License-Identifier: Apache-2.0
// Invariants of every log that could be read, however broken it is. Used by the fuzzers.
#pragma once

#include <cmath>
#include <cstdlib>
#include <set>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::smi {

inline void must(bool holds) {
  if (!holds) std::abort();
}

inline void must_be_finite(const Row &row) {
  for (const auto &reading : row.readings()) must(!reading || std::isfinite(reading.value()));
}

// Devices are unique, and references to devices are valid.
inline void must_be_sound(const Result<std::vector<SnapshotPtr>> &log) {
  if (!log) {
    must(!log.error().what.empty() && log.error().line().find('\n') == std::string::npos);
    return;
  }
  for (const auto &snapshot : *log) {
    std::set<DeviceId> numbers;
    std::set<std::string> uuids;
    for (const auto &device : snapshot->devices) {
      must(numbers.insert(device.id).second && uuids.insert(device.identity->uuid).second);
      must(numbers.contains({.index = device.id.index}));
      must_be_finite(device.row);
      if (device.details) must_be_finite(device.details->row);
    }
    for (const auto &process : snapshot->processes) {
      must(numbers.contains(process.device) && process.texts);
      must_be_finite(process.row);
    }
  }
}

}  // namespace gpulse::smi
