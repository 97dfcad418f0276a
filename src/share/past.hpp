// SPDX-License-Identifier: Apache-2.0
// The last minute in a segment: two halves of fixed size that take turns, each of which begins with a sample that
// stands alone. So there is between one and two minutes of it, or what fits.
//
//   entry = length in bytes, boot time, wall time, sum, the sample as changes to the one before
#pragma once

#include <functional>
#include <span>

#include "codec/snapshot_codec.hpp"
#include "share/layout.hpp"

namespace gpulse::share {

class PastWriter {
 public:
  PastWriter(std::span<Word> words, const Layout &layout) : words_(words), layout_(layout) {}

  // Samples that come within less than a second of the last one are left out.
  void append(const SnapshotPtr &snapshot, std::uint64_t boot_time);

 private:
  bool put(std::uint64_t boot_time, WallTime wall_time);
  void turn_over(std::uint64_t boot_time);

  std::span<Word> words_;
  Layout layout_;
  codec::SnapshotEncoder encoder_;
  codec::WireWriter payload_;
  std::uint64_t turn_ = 0;
  std::uint64_t used_ = 0;  // words of this half
  std::uint64_t begun_ = 0;
  std::uint64_t last_ = 0;
};

struct PastSample {
  std::uint64_t boot_time = 0;
  SnapshotPtr snapshot;
};
// The oldest first. What cannot be read any more is left out. `slots`: of the agent's keys.
std::vector<PastSample> read_past(std::span<const Word> words, const Layout &layout, const codec::SlotMap &slots);

}  // namespace gpulse::share
