// SPDX-License-Identifier: Apache-2.0
// Writes snapshots to a recording. One thread; each write() hands the kernel one whole sample, so that a crash loses at
// most the one being written.
#pragma once

#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "codec/snapshot_codec.hpp"
#include "codec/wire.hpp"
#include "model/snapshot.hpp"

namespace gpulse::record {

// What becomes of a file that is there and not empty. Pipes and devices are written to in any case.
enum class Existing : std::uint8_t {
  refuse,
  append,     // a recording is gone on with, after cutting off a torn tail; anything else is left alone
  overwrite,  // whatever it is
};

// Whether open() would take the file, without touching it.
Result<void> check_target(const std::string &path, Existing existing);

class RecordingWriter {
 public:
  // "-" is the standard output. A FIFO is waited for until somebody reads it, unless asked to stop.
  static Result<RecordingWriter> open(const std::string &path, Existing existing, const std::stop_token &stop = {});

  // After an error the file still ends with a whole sample (where it can be cut), and writing may go on.
  Result<void> write(const Snapshot &snapshot);

  std::uint64_t samples() const { return samples_; }
  // Bytes written since open().
  std::uint64_t size() const { return size_; }

 private:
  RecordingWriter(std::string path, UniqueFd file);
  bool key_is_due(WallTime time) const;
  Result<void> put(std::span<const std::byte> bytes);

  std::string path_;
  UniqueFd file_;
  codec::SnapshotEncoder encoder_;
  // The sample written last.
  std::uint32_t last_crc_ = 0;
  WallTime last_time_{};
  WallTime key_time_{};
  bool restart_ = true;
  std::uint64_t since_key_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t size_ = 0;
  codec::WireWriter payload_;
  codec::WireWriter blocks_;
};

}  // namespace gpulse::record
