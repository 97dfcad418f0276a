// SPDX-License-Identifier: Apache-2.0
#include "fleet/engine_values.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gpulse::fleet {
namespace {

TEST(EngineValues, AreMomentsWhereAClockCanShowThem) {
  EXPECT_EQ(moment_at(1.5), WallTime(std::chrono::milliseconds(1500)));
  for (const double bad :
       {0.0, -1.0, 1e300, 9e9, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(moment_at(bad)) << bad;
  }
}

TEST(EngineValues, AreWordsOfASetOrNumbersOfBits) {
  const auto throttle = find_role(Scope::device, Role::throttle).value();
  EXPECT_EQ(bit_of(throttle, describe(throttle).words[2]), 2U);
  EXPECT_EQ(bit_of(throttle, "bit 20"), 20U);
  EXPECT_FALSE(bit_of(throttle, "bit 52"));
  EXPECT_FALSE(bit_of(throttle, "bit x"));
  EXPECT_FALSE(bit_of(throttle, "of a later version"));
}

TEST(EngineValues, AreShortTexts) {
  EXPECT_LE(short_text(std::string(100'000, 'x')).size(), 256U);
  EXPECT_EQ(short_text("a\x1b[31m"), "a [31m");
}

}  // namespace
}  // namespace gpulse::fleet
