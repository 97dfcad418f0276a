// SPDX-License-Identifier: Apache-2.0
#include "codec/crc32c.hpp"

#include <array>

namespace gpulse::codec {

namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78U;  // reflected

constexpr auto make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? kPolynomial : 0U);
    table[i] = rest;
  }
  return table;
}
constexpr auto kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
  std::uint32_t sum = ~seed;
  for (const auto byte : bytes) sum = (sum >> 8U) ^ kTable[(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
  return ~sum;
}

}  // namespace gpulse::codec
