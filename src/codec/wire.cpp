// SPDX-License-Identifier: Apache-2.0
#include "codec/wire.hpp"

namespace gpulse::codec {

namespace {
constexpr unsigned kPayloadBits = 7;
constexpr std::uint64_t kMore = 0x80;
}  // namespace

void WireWriter::varint(std::uint64_t value) {
  while (value >= kMore) {
    u8(static_cast<std::uint8_t>(value | kMore));
    value >>= kPayloadBits;
  }
  u8(static_cast<std::uint8_t>(value));
}

void WireWriter::text(std::string_view value) {
  varint(value.size());
  bytes(std::as_bytes(std::span(value)));
}

void WireWriter::patch_u32(std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes_[at + i] = static_cast<std::byte>(value >> (8 * i));
}

void WireWriter::fixed(std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) u8(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += kPayloadBits) {
    if (rest_.empty()) break;
    const auto byte = std::to_integer<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    value |= (byte & (kMore - 1)) << shift;
    if ((byte & kMore) == 0) return value;
  }
  fail();
  return 0;
}

std::uint64_t WireReader::count(std::uint64_t limit) {
  const auto value = varint();
  if (value <= limit) return value;
  fail();
  return 0;
}

std::string_view WireReader::text(std::size_t limit) {
  const auto raw = bytes(count(limit));
  return {reinterpret_cast<const char *>(raw.data()), raw.size()};
}

std::span<const std::byte> WireReader::bytes(std::size_t size) {
  if (size > rest_.size()) {
    fail();
    return {};
  }
  const auto piece = rest_.first(size);
  rest_ = rest_.subspan(size);
  return piece;
}

std::uint64_t WireReader::fixed(std::size_t width) {
  const auto raw = bytes(width);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) value |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
  return value;
}

}  // namespace gpulse::codec
