// SPDX-License-Identifier: Apache-2.0
// Reads a recording: finds all samples once when it is opened, then gives any of them. One thread.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "codec/block.hpp"
#include "codec/snapshot_codec.hpp"
#include "model/snapshot.hpp"

namespace gpulse::record {

// Whether these bytes begin as a recording does.
bool is_recording(std::span<const std::byte> start);

class RecordingReader {
 public:
  static Result<RecordingReader> open(const std::string &path);
  // The bytes must stay where they are for as long as the reader lives. `name` stands for them in messages.
  static Result<RecordingReader> open(std::span<const std::byte> bytes, std::string name);
  static Result<RecordingReader> open(codec::ByteSource bytes, std::string name);

  // Marks what it gives: "REPLAY", "DEMO"; without it the origin is the recorded one.
  void set_origin(std::string origin) { origin_ = std::move(origin); }

  std::size_t count() const { return samples_.size(); }
  WallTime time(std::size_t index) const { return samples_[index].time; }
  // Only where there is a sample.
  WallTime first_time() const { return samples_.front().time; }
  WallTime last_time() const { return samples_.back().time; }
  // Blocks that could not be read: damaged ones, and those that build on them.
  std::uint64_t skipped() const { return skipped_; }

  // In order it costs one block; anywhere else what lies since the key block before it.
  Result<SnapshotPtr> at(std::size_t index);
  // The last sample at or before the time, else the first; next() goes on from there.
  std::size_t seek(WallTime time);
  // Null after the last.
  Result<SnapshotPtr> next();

 private:
  struct Sample {
    std::uint64_t offset = 0;
    WallTime time{};
    std::size_t key = 0;  // the sample its chain begins with
  };

  RecordingReader(codec::ByteSource bytes, std::string name, codec::Numbering numbering)
      : bytes_(std::move(bytes)), name_(std::move(name)), decoder_(numbering) {}
  void find_samples();
  // False: a block that cannot be used.
  bool add_block(const codec::Block &block, std::uint32_t &last_crc, bool &chained);
  bool load(std::size_t index);

  codec::ByteSource bytes_;
  std::string name_;
  std::string origin_;
  std::vector<Sample> samples_;
  std::unordered_map<std::uint64_t, codec::SlotMap> schemas_;
  std::uint64_t skipped_ = 0;
  bool in_order_ = true;  // by time
  std::size_t next_ = 0;
  codec::SnapshotDecoder decoder_;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t loaded_ = kNone;  // what the decoder holds
};

}  // namespace gpulse::record
