// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/pp_dpm.hpp"

#include <gtest/gtest.h>

namespace gpulse::amdgpu {

namespace {

TEST(Levels, TellThePresentAndTheHighest) {
  const auto levels = parse_levels("0: 300Mhz \n1: 600Mhz *\n2: 1366Mhz \n");
  EXPECT_EQ(levels.now_mhz, 600);
  EXPECT_EQ(levels.max_mhz, 1366);
}

TEST(Levels, NeedNoBlankBeforeTheEndOfTheLine) {
  const auto levels = parse_levels("0: 96Mhz\n4: 1124Mhz *\n5: 1258Mhz");
  EXPECT_EQ(levels.now_mhz, 1124);
  EXPECT_EQ(levels.max_mhz, 1258);
}

TEST(Levels, MayBeMarkedTwice) { EXPECT_EQ(parse_levels("0: 600Mhz *\n1: 687Mhz *\n").now_mhz, 687); }

TEST(Levels, MayBeMarkedNowhere) {
  const auto levels = parse_levels("0: 2.5GT/s, x1 81Mhz \n1: 16.0GT/s, x8 306Mhz \n");
  EXPECT_FALSE(levels.now_mhz);
  EXPECT_EQ(levels.max_mhz, 306);
}

TEST(Levels, OfDeepSleepHaveALetterForANumber) {
  const auto levels = parse_levels("S: 19Mhz *\n0: 500Mhz\n1: 2070Mhz\n");
  EXPECT_EQ(levels.now_mhz, 19);
  EXPECT_EQ(levels.max_mhz, 2070);
}

TEST(Levels, OfAClockThatStandsStillAreZero) {
  const auto levels = parse_levels("0: 300Mhz \n1: 0Mhz *\n2: 1900Mhz \n");
  EXPECT_EQ(levels.now_mhz, 0);
  EXPECT_EQ(levels.max_mhz, 1900);
}

TEST(Levels, OfABlankOrPaddedFile) {
  EXPECT_FALSE(parse_levels("\n").max_mhz);
  EXPECT_FALSE(parse_levels("").max_mhz);
  EXPECT_FALSE(parse_levels(std::string_view("\0\0\0", 3)).max_mhz);
  EXPECT_EQ(parse_levels(std::string_view("0: 500Mhz *\n\0\0\0", 15)).now_mhz, 500);
}

TEST(Levels, ThatMakeNoSenseAreNone) {
  EXPECT_FALSE(parse_levels("0: -5Mhz *\n1: 1e3Mhz\n2: Mhz\n3: 99999999999Mhz\n4: 12Ghz *\n").max_mhz);
}

}  // namespace

}  // namespace gpulse::amdgpu
