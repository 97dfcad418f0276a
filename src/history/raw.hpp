// SPDX-License-Identifier: Apache-2.0
// Samples as a history keeps them: each as the changes since the one before, and many of them packed into a chunk that
// stands alone. One thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "codec/snapshot_codec.hpp"
#include "model/snapshot.hpp"

namespace gpulse::history {

inline constexpr std::size_t kChunkSamples = 120;
inline constexpr std::size_t kMostChunkSamples = 10000;  // that are read

struct RawSample {
  WallTime time{};
  double seconds = 0;  // how much time it stands for
  std::vector<std::byte> data{};
};

class RawEncoder {
 public:
  // The next sample stands alone.
  void restart() { encoder_.restart(); }
  // Good until the next one. After an error restart() must follow.
  Result<std::span<const std::byte>> encode(const SnapshotPtr &sample);

 private:
  codec::SnapshotEncoder encoder_;
  codec::WireWriter bytes_;
};

class RawDecoder {
 public:
  // The next sample stands alone; its metrics are those of the schema.
  void restart(codec::SlotMap slots) { decoder_.restart(std::move(slots)); }
  // Null: the bytes make no sense, and restart() must follow.
  SnapshotPtr decode(WallTime time, std::span<const std::byte> data);

 private:
  codec::SnapshotDecoder decoder_;
};

// Compressed, with a checksum. The first sample must stand alone.
std::vector<std::byte> pack(std::span<const RawSample> samples);
// None: damaged.
std::optional<std::vector<RawSample>> unpack(std::span<const std::byte> chunk);

// What history keeps of a sample: without what is only of this moment, and without what many cores would cost.
SnapshotPtr without_moment(const Snapshot &snapshot);

}  // namespace gpulse::history
