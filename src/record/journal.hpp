// SPDX-License-Identifier: Apache-2.0
// What a live view has seen since it began, so that it can be scrolled back: samples as changes to the one before, in a
// file without a name that goes with the process. Memory holds an index of a few bytes per sample. One thread.
#pragma once

#include <deque>
#include <span>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "codec/snapshot_codec.hpp"
#include "codec/wire.hpp"
#include "model/snapshot.hpp"

namespace gpulse::record {

class Journal {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{256} << 20U;

  // In $TMPDIR or /tmp, in memory where neither can be written. Beyond `limit` bytes the oldest samples are dropped.
  static Result<Journal> open(std::uint64_t limit = kLimit);

  // A sample keeps its number: the first is 0, first() the oldest that is still there.
  Result<void> append(const SnapshotPtr &snapshot);
  Result<void> append(const Snapshot &snapshot) { return append(std::make_shared<const Snapshot>(snapshot)); }
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + samples_.size(); }
  // Only between first() and end().
  WallTime time(std::uint64_t number) const { return samples_[static_cast<std::size_t>(number - first_)].time; }
  // In order it costs one sample; anywhere else what lies since the key sample before it.
  Result<SnapshotPtr> at(std::uint64_t number);
  // The last sample at or before the time, else the oldest.
  std::uint64_t find(WallTime time) const;
  std::uint64_t bytes() const { return end_offset_ - first_offset(); }

 private:
  struct Sample {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t since_key = 0;  // samples between it and the one that its chain begins with
    WallTime time{};
  };

  Journal(UniqueFd file, std::uint64_t limit) : file_(std::move(file)), limit_(limit) {}
  std::uint64_t first_offset() const { return samples_.empty() ? end_offset_ : samples_.front().offset; }
  Result<void> put(std::span<const std::byte> bytes) const;
  void drop_oldest();
  bool load(std::uint64_t number);

  UniqueFd file_;
  std::uint64_t limit_;
  std::deque<Sample> samples_;
  std::uint64_t first_ = 0;
  std::uint64_t end_offset_ = 0;
  bool in_order_ = true;  // by time
  codec::SnapshotEncoder encoder_;
  bool restart_ = true;
  codec::WireWriter payload_;
  codec::SnapshotDecoder decoder_;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t loaded_ = kNone;  // what the decoder holds
  std::string buffer_;
};

}  // namespace gpulse::record
