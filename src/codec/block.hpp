// SPDX-License-Identifier: Apache-2.0
// A recording as a chain of blocks:
//
//   file    = magic (8 bytes) version (u32) block…
//   block   = marker (u16) length (u32) crc32c of length and payload (u32) payload
//   payload = kind (u8) and then, little endian,
//     schema: the keys of each scope (schema.hpp)
//     key:    hash of its schema (u64) time (i64, ns) sample against nothing
//     delta:  crc32c of the sample block before (u32) time since then (signed varint, ns) sample against that one
//
// A sample is one block. A crash can only tear the last one; a reader cuts it off without a word. A delta names the
// block it builds on, so that after damage nothing is read until the next key block. Kinds a reader does not know it
// passes by. Where a block may begin another file may begin too, so that recordings can be joined with `cat`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "codec/byte_source.hpp"
#include "codec/wire.hpp"

namespace gpulse::codec {

inline constexpr std::array<char, 8> kMagic{'G', 'P', 'U', 'L', 'S', 'E', '\x1A', '\n'};
inline constexpr std::uint32_t kVersion = 2, kOldestVersion = 1;
inline constexpr std::size_t kFileHeadSize = 12;
inline constexpr std::size_t kBlockHeadSize = 10;
inline constexpr std::size_t kLargestPayload = std::size_t{1} << 27U;

enum class BlockKind : std::uint8_t { schema = 1, key = 2, delta = 3 };

void write_file_head(WireWriter &out);
enum class FileHead : std::uint8_t { good, older, empty, torn, newer, foreign };
FileHead check_file_head(ByteSource &bytes);

// Appends a block and returns its checksum, by which the next one may refer to it.
std::uint32_t write_block(WireWriter &out, std::span<const std::byte> payload);

struct Block {
  std::uint64_t offset = 0;
  std::uint32_t crc = 0;
  std::span<const std::byte> payload;  // good until the source is asked again
};
// The block that starts at `offset`, when there is a whole and undamaged one.
std::optional<Block> read_block(ByteSource &bytes, std::uint64_t offset);

// What a payload begins with.
struct SampleHead {
  BlockKind kind = BlockKind::key;
  std::uint64_t schema = 0;    // key
  std::int64_t time = 0;       // key: since the epoch; delta: since the sample before
  std::uint32_t previous = 0;  // delta
};
void write_sample_head(WireWriter &out, const SampleHead &head);
// Of a key or delta payload; leaves `in` at the sample.
std::optional<SampleHead> read_sample_head(WireReader &in);

// Walks the good blocks of a recording in order.
class BlockScanner {
 public:
  explicit BlockScanner(ByteSource &bytes);

  std::optional<Block> next();
  // Damaged blocks passed by so far. The beginning of a block at the very end is a torn tail and not counted.
  std::uint64_t skipped() const { return skipped_; }
  // End of the last good block: where a torn tail begins.
  std::uint64_t good_end() const { return good_end_; }
  // Damage without an end in sight: what lies behind it has not been looked at.
  bool gave_up() const { return gave_up_; }

 private:
  bool step_over_damage();
  bool find_marker();
  bool at_file_head();
  bool tail_is_torn();

  ByteSource &bytes_;
  std::uint64_t at_ = kFileHeadSize;
  std::uint64_t good_end_ = kFileHeadSize;
  std::uint64_t skipped_ = 0;
  std::uint64_t pending_ = 0;  // damaged since the last good one
  bool searching_ = false;
  bool gave_up_ = false;
  std::uint64_t searched_ = 0;  // bytes since the last good block
  // Bytes that may still be summed in search of a good block, so that a file made of false markers ends in time.
  std::uint64_t budget_;
};

}  // namespace gpulse::codec
