// SPDX-License-Identifier: Apache-2.0
// Writes snapshots to a recording. One thread; each write() hands the kernel one whole sample, so that a crash loses at
// most the one being written.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "codec/snapshot_codec.hpp"
#include "codec/wire.hpp"
#include "model/snapshot.hpp"

namespace gpulse::record {

class RecordingWriter {
 public:
  // `append` goes on with a recording that is there, after cutting off a torn tail; otherwise it is begun anew. A file
  // that is there and is no recording is left alone, unless `force` says to overwrite it.
  static Result<RecordingWriter> open(const std::string &path, bool append, bool force = false);

  // After an error the file still ends with a whole sample (where it can be cut), and writing may go on.
  Result<void> write(const Snapshot &snapshot);

  std::uint64_t samples() const { return samples_; }
  // Bytes written since open().
  std::uint64_t size() const { return size_; }

 private:
  RecordingWriter(std::string path, UniqueFd file, bool regular);
  static Result<bool> prepare(const std::string &path, int file, bool append, bool force);
  bool key_is_due(WallTime time) const;
  Result<void> put(std::span<const std::byte> bytes);

  std::string path_;
  UniqueFd file_;
  bool regular_;
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
