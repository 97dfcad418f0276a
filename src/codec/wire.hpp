// SPDX-License-Identifier: Apache-2.0
// Numbers and strings as bytes, little endian whatever the machine. The reader never goes beyond its span: once
// something does not fit, failed() stays true and every later read gives nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpulse::codec {

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}

class WireWriter {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void u32(std::uint32_t value) { fixed(value, 4); }
  void u64(std::uint64_t value) { fixed(value, 8); }
  void varint(std::uint64_t value);
  void signed_varint(std::int64_t value) { varint(zigzag(value)); }
  void text(std::string_view value);  // length, then the bytes
  void bytes(std::span<const std::byte> value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }

  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> view() const { return bytes_; }
  void clear() { bytes_.clear(); }
  // Overwrites the four bytes at `at`.
  void patch_u32(std::size_t at, std::uint32_t value);

 private:
  void fixed(std::uint64_t value, std::size_t width);

  std::vector<std::byte> bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(fixed(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t u64() { return fixed(8); }
  std::uint64_t varint();
  std::int64_t signed_varint() { return unzigzag(varint()); }
  // A varint that must not exceed `limit`.
  std::uint64_t count(std::uint64_t limit);
  std::string_view text(std::size_t limit);
  std::span<const std::byte> bytes(std::size_t size);

  bool failed() const { return failed_; }
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::uint64_t fixed(std::size_t width);

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace gpulse::codec
