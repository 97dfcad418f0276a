// SPDX-License-Identifier: Apache-2.0
#include "codec/row_codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "codec/crc32c.hpp"

namespace gpulse::codec {
namespace {

std::vector<std::uint16_t> straight(std::size_t size) {
  std::vector<std::uint16_t> slots(size);
  std::iota(slots.begin(), slots.end(), std::uint16_t{0});
  return slots;
}

// Bytes that `now` takes after `before`; fails the test when it does not come back bit by bit.
std::size_t bytes_for(const Reading &before, const Reading &now) {
  const std::vector rows{before};
  const std::vector expected{now};
  WireWriter out;
  encode_row(out, rows, expected);
  auto decoded = rows;
  WireReader in(out.view());
  EXPECT_TRUE(decode_row(in, decoded, straight(1)));
  EXPECT_TRUE(in.at_end());
  EXPECT_TRUE(identical(decoded, expected)) << (now.has_value() ? now.value() : -1);
  return out.size();
}

TEST(Crc32c, KnownAnswer) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xE3069283U);
  const auto head = crc32c(std::as_bytes(std::span(digits.substr(0, 4))));
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits.substr(4))), head), 0xE3069283U);
}

TEST(Wire, Varints) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{64}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    WireWriter out;
    out.signed_varint(value);
    WireReader in(out.view());
    EXPECT_EQ(in.signed_varint(), value);
    EXPECT_TRUE(in.at_end() && !in.failed());
    WireReader cut(out.view().first(out.size() - 1));
    cut.signed_varint();
    EXPECT_TRUE(cut.failed());
  }
}

TEST(RowCodec, NumbersComeBackBitByBit) {
  using limits = std::numeric_limits<double>;
  const double values[] = {0.0,
                           -0.0,
                           1,
                           -1,
                           510.488,
                           133.822,
                           16378.579,
                           16.672857248,
                           0.1 + 0.2,
                           1e300,
                           -1e-300,
                           9007199254740991.0,
                           9007199254740992.0,
                           9007199254740994.0,
                           limits::infinity(),
                           -limits::infinity(),
                           limits::quiet_NaN(),
                           limits::denorm_min(),
                           limits::max()};
  for (const double before : values) {
    for (const double now : values) bytes_for(before, now);
    bytes_for(before, Reading(Reason::error, 999));
    bytes_for(Reason::lost, before);
  }
}

TEST(RowCodec, SmallChangesAreSmall) {
  EXPECT_EQ(bytes_for(50.0, 50.0), 1);        // the count of changes
  EXPECT_EQ(bytes_for(50.0, 51.0), 3);        // and an entry and a difference of one byte
  EXPECT_EQ(bytes_for(510.488, 510.490), 3);  // thousandths against hundredths: still a difference
  EXPECT_EQ(bytes_for(16.672857248, 16.672857249), 3);
  EXPECT_EQ(bytes_for(50.0, Reason::asleep), 3);
  EXPECT_LE(bytes_for(96.08123456789012, 96.08199456789012), 9);  // only the bytes that differ
}

TEST(RowCodec, AReadingAlone) {
  for (const Reading reading : {Reading(0.0), Reading(-0.0), Reading(510.488), Reading(0.1 + 0.2), Reading(1e300),
                                Reading(Reason::not_sampled), Reading(Reason::error, 999)}) {
    WireWriter out;
    encode_reading(out, reading);
    WireReader in(out.view());
    EXPECT_TRUE(identical(decode_reading(in), reading));
    EXPECT_TRUE(in.at_end() && !in.failed());
  }
}

TEST(RowCodec, AReadingFromOutsideIsLegal) {
  const auto decode = [](std::initializer_list<std::uint8_t> bytes, bool good) {
    WireWriter out;
    for (const auto byte : bytes) out.u8(byte);
    WireReader in(out.view());
    const auto reading = decode_reading(in);
    EXPECT_EQ(in.failed(), !good);
    return reading;
  };
  const Reading none = Reason::not_supported;
  EXPECT_TRUE(identical(decode({0x00, 4}, true), 2.0));
  EXPECT_TRUE(identical(decode({0x0A, 0x06, 0xF0, 0x7F}, true), Reason::out_of_range)) << "infinity";
  EXPECT_TRUE(identical(decode({0x0A, 0x04, 0x70, 0x67, 0xFC, 0xFF}, true), Reason::out_of_range)) << "a reason's mark";
  EXPECT_TRUE(identical(decode({0x08, 10}, false), none)) << "no such reason";
  EXPECT_TRUE(identical(decode({0x09, 8, 0x80, 0x80, 0x04}, false), none)) << "a code of 17 bits";
  EXPECT_TRUE(identical(decode({0x17, 0}, false), none)) << "no such form";
  EXPECT_TRUE(identical(decode({}, false), none));
}

TEST(RowCodec, RejectsNonsense) {
  const auto slots = straight(4);
  const auto rejects = [&](std::initializer_list<std::uint8_t> bytes) {
    WireWriter out;
    for (const auto byte : bytes) out.u8(byte);
    std::vector<Reading> row(4);
    WireReader in(out.view());
    return !decode_row(in, row, slots);
  };
  EXPECT_TRUE(rejects({}));
  EXPECT_TRUE(rejects({5}));           // more changes than slots
  EXPECT_TRUE(rejects({1, 0x40, 2}));  // beyond the last slot
  EXPECT_TRUE(rejects({2, 0x30, 2, 0, 2}));
  EXPECT_TRUE(rejects({1, 0x08, 10}));    // no such reason
  EXPECT_TRUE(rejects({1, 0x07, 0}));     // no such form
  EXPECT_TRUE(rejects({1, 0x0A, 0x44}));  // no bytes
  EXPECT_FALSE(rejects({1, 0x30, 2}));
}

}  // namespace
}  // namespace gpulse::codec
