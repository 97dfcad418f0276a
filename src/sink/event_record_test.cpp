// SPDX-License-Identifier: Apache-2.0
// Checksums and bytes as TensorBoard's own reader has taken them.
#include "sink/event_record.hpp"

#include <gtest/gtest.h>

#include "view/tensorboard.hpp"

namespace gpulse::sink {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits += c;
    if (digits.size() != 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return bytes;
}

TEST(EventRecord, ChecksumsAreMasked) {
  EXPECT_EQ(masked_crc("123456789"), 0xC78AB0E5U);
  EXPECT_EQ(masked_crc(std::string(32, '\0')), 0x0FD7FFFAU);
  EXPECT_EQ(masked_crc(""), 0xA282EAD8U);
  EXPECT_EQ(masked_crc("\x1A\x11"
                       "CRC test, one two"),
            0x5794D08AU);
}

TEST(EventRecord, TheFirstOneSaysTheVersionAndTheWriter) {
  std::string event;
  view::append_tensorboard_head(event, WallTime(std::chrono::seconds(1700000000)), "gpumon");
  std::string record;
  append_record(record, event);
  EXPECT_EQ(record, from_hex("2200000000000000 78113dfd 0900000040fc54d941 1a0d627261696e2e4576656e743a32 "
                             "52080a066770756d6f6e a42c46e8"));
}

TEST(EventRecord, AnEventHoldsManyValues) {
  std::string event;
  const view::CurvePoint points[] = {{.tag = "a", .value = 1}, {.tag = "b", .value = -2.5F}};
  view::append_tensorboard_event(event, WallTime(std::chrono::seconds(1700000000)), 300, points);
  EXPECT_EQ(event, from_hex("0900000040fc54d941 10ac02 2a14 0a08 0a0161 150000803f 0a08 0a0162 15000020c0"));
}

}  // namespace
}  // namespace gpulse::sink
