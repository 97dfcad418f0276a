// SPDX-License-Identifier: Apache-2.0
#include "codec/block.hpp"

#include <algorithm>
#include <cstring>

#include "codec/crc32c.hpp"

namespace gpulse::codec {

namespace {

constexpr std::array kMarker{std::byte{0xF5}, std::byte{0x9C}};
// No block is longer: behind so much damage there is no recording any more, and the search for one must end.
constexpr std::uint64_t kLongestDamage = 2 * kLargestPayload;
constexpr std::uint64_t kDearestSearch = std::uint64_t{1} << 32U;

struct BlockHead {
  std::size_t length = 0;
  std::uint32_t crc = 0;
};

std::span<const std::byte> length_field(std::span<const std::byte> head) { return head.subspan(kMarker.size(), 4); }

std::optional<BlockHead> read_block_head(std::span<const std::byte> head) {
  if (head.size() < kBlockHeadSize) return std::nullopt;
  if (!std::equal(kMarker.begin(), kMarker.end(), head.begin())) return std::nullopt;
  WireReader in(head.subspan(kMarker.size()));
  BlockHead found{.length = in.u32(), .crc = in.u32()};
  if (found.length == 0 || found.length > kLargestPayload) return std::nullopt;
  return found;
}

}  // namespace

void write_file_head(WireWriter &out) {
  out.bytes(std::as_bytes(std::span(kMagic)));
  out.u32(kVersion);
}

FileHead check_file_head(ByteSource &bytes) {
  const auto head = bytes.view(0, kFileHeadSize);
  if (bytes.size() == 0) return FileHead::empty;
  WireWriter ours;
  write_file_head(ours);
  const auto magic = ours.view().first(std::min(head.size(), kMagic.size()));
  if (head.empty() || !std::equal(magic.begin(), magic.end(), head.begin())) return FileHead::foreign;
  if (head.size() < kFileHeadSize) return FileHead::torn;
  WireReader in(head.subspan(kMagic.size()));
  const auto version = in.u32();
  if (version == kVersion) return FileHead::good;
  return version >= kOldestVersion && version < kVersion ? FileHead::older : FileHead::newer;
}

std::uint32_t write_block(WireWriter &out, std::span<const std::byte> payload) {
  const auto start = out.size();
  out.bytes(kMarker);
  out.u32(static_cast<std::uint32_t>(payload.size()));
  const auto sum = crc32c(payload, crc32c(length_field(out.view().subspan(start))));
  out.u32(sum);
  out.bytes(payload);
  return sum;
}

std::optional<Block> read_block(ByteSource &bytes, std::uint64_t offset) {
  const auto head = read_block_head(bytes.view(offset, kBlockHeadSize));
  if (!head || head->length > bytes.size() - offset - kBlockHeadSize) return std::nullopt;
  const auto whole = bytes.view(offset, kBlockHeadSize + head->length);
  if (whole.size() != kBlockHeadSize + head->length) return std::nullopt;
  const auto payload = whole.subspan(kBlockHeadSize);
  if (crc32c(payload, crc32c(length_field(whole))) != head->crc) return std::nullopt;
  return Block{offset, head->crc, payload};
}

void write_sample_head(WireWriter &out, const SampleHead &head) {
  out.u8(static_cast<std::uint8_t>(head.kind));
  if (head.kind == BlockKind::key) {
    out.u64(head.schema);
    out.u64(static_cast<std::uint64_t>(head.time));
  } else {
    out.u32(head.previous);
    out.signed_varint(head.time);
  }
}

std::optional<SampleHead> read_sample_head(WireReader &in) {
  SampleHead head;
  head.kind = static_cast<BlockKind>(in.u8());
  if (head.kind == BlockKind::key) {
    head.schema = in.u64();
    head.time = static_cast<std::int64_t>(in.u64());
  } else if (head.kind == BlockKind::delta) {
    head.previous = in.u32();
    head.time = in.signed_varint();
  } else {
    return std::nullopt;
  }
  if (in.failed()) return std::nullopt;
  return head;
}

BlockScanner::BlockScanner(ByteSource &bytes)
    : bytes_(bytes), budget_(std::min(4 * bytes.size(), kDearestSearch) + (1U << 20U)) {}

std::optional<Block> BlockScanner::next() {
  while (at_ < bytes_.size()) {
    if (auto block = read_block(bytes_, at_)) {
      at_ += kBlockHeadSize + block->payload.size();
      good_end_ = at_;
      skipped_ += pending_;
      pending_ = 0;
      searched_ = 0;
      searching_ = false;
      return block;
    }
    if (!searching_ && at_file_head()) {
      at_ += kFileHeadSize;
    } else if (!step_over_damage()) {
      gave_up_ = true;
      break;
    }
  }
  if (!tail_is_torn()) skipped_ += pending_;
  pending_ = 0;
  at_ = bytes_.size();
  return std::nullopt;
}

bool BlockScanner::at_file_head() {
  WireWriter head;
  write_file_head(head);
  return std::ranges::equal(bytes_.view(at_, kFileHeadSize), head.view());
}

bool BlockScanner::tail_is_torn() {
  const auto rest = bytes_.view(good_end_, kBlockHeadSize);
  if (rest.size() < kBlockHeadSize) {
    const auto marker = std::min(rest.size(), kMarker.size());
    return std::equal(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(marker), kMarker.begin());
  }
  const auto head = read_block_head(rest);
  return head && head->length > bytes_.size() - good_end_ - kBlockHeadSize;
}

// To the next place where a block may begin. False: the search has become too dear.
bool BlockScanner::step_over_damage() {
  const auto head = read_block_head(bytes_.view(at_, kBlockHeadSize));
  const auto end = head ? at_ + kBlockHeadSize + head->length : bytes_.size();
  if (head && end <= bytes_.size()) {
    const auto cost = kBlockHeadSize + head->length;
    if (cost > budget_) return false;
    budget_ -= cost;
  }
  // Its length is still good when the next block begins right behind it.
  if (head && end < bytes_.size() && read_block_head(bytes_.view(end, kBlockHeadSize))) {
    ++pending_;
    searching_ = false;
    at_ = end;
    return true;
  }
  if (!searching_) ++pending_;
  searching_ = true;
  ++at_;
  return find_marker();
}

// False: it is so far away that nothing good can be expected any more.
bool BlockScanner::find_marker() {
  constexpr std::size_t kPiece = 4096;
  while (at_ < bytes_.size()) {
    const auto piece = bytes_.view(at_, kPiece);
    const auto *const found =
        piece.empty()
            ? nullptr
            : static_cast<const std::byte *>(std::memchr(piece.data(), std::to_integer<int>(kMarker[0]), piece.size()));
    const auto passed = found == nullptr ? piece.size() : static_cast<std::size_t>(found - piece.data());
    searched_ += passed + 1;
    if (searched_ > kLongestDamage || piece.empty()) return false;
    at_ += passed;
    const auto marker = bytes_.view(at_, kMarker.size());
    if (found != nullptr && std::ranges::equal(marker, kMarker)) return true;
    if (found != nullptr) {
      ++at_;
    } else if (piece.back() == std::byte{0}) {
      at_ = bytes_.next_data(at_);  // holes cost nothing
    }
  }
  return true;
}

}  // namespace gpulse::codec
