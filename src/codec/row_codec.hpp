// SPDX-License-Identifier: Apache-2.0
// The readings of a row as what changed since the row before: [slots skipped << 4 | form] and the value in that form.
// Whatever goes in comes out to the last bit: numbers that are n/1, n/10, … n/1e9 exactly are kept as the difference
// of n, all others as the bits that changed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "codec/wire.hpp"
#include "model/reading.hpp"

namespace gpulse::codec {

// Bits, not numbers: NaN equals itself and 0 is not -0.
inline bool identical(const Reading &a, const Reading &b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
inline bool identical(std::span<const Reading> a, std::span<const Reading> b) {
  return std::ranges::equal(a, b, [](const Reading &x, const Reading &y) { return identical(x, y); });
}

// Both rows have the same size.
void encode_row(WireWriter &out, std::span<const Reading> before, std::span<const Reading> now);

// One that stands alone, in the same forms. Whatever the bytes are, what comes back is a legal reading.
void encode_reading(WireWriter &out, const Reading &reading);
Reading decode_reading(WireReader &in);

// Where a slot of the recording lies in today's table.
inline constexpr std::uint16_t kNoSlot = 0xFFFF;

// Changes `row` in place; `slots` says where each slot of the recording goes (kNoSlot: nowhere).
// False: the bytes make no sense.
bool decode_row(WireReader &in, std::span<Reading> row, std::span<const std::uint16_t> slots);

}  // namespace gpulse::codec
