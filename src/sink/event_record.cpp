// SPDX-License-Identifier: Apache-2.0
#include "sink/event_record.hpp"

#include <bit>
#include <span>

#include "codec/crc32c.hpp"

namespace gpulse::sink {

namespace {

template <class Number>
std::string little_endian(Number value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return bytes;
}

}  // namespace

std::uint32_t masked_crc(std::string_view bytes) {
  // The format's mask: a checksum of bytes that hold checksums says little.
  constexpr std::uint32_t kMask = 0xA282EAD8U;
  return std::rotr(codec::crc32c(std::as_bytes(std::span(bytes))), 15) + kMask;
}

void append_record(std::string &out, std::string_view event) {
  const auto length = little_endian(std::uint64_t{event.size()});
  out += length;
  out += little_endian(masked_crc(length));
  out += event;
  out += little_endian(masked_crc(event));
}

}  // namespace gpulse::sink
