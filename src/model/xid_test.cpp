// SPDX-License-Identifier: Apache-2.0
#include "model/xid.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

TEST(Xid, FindsSingleNumbersAndRanges) {
  ASSERT_NE(find_xid(79), nullptr);
  EXPECT_NE(find_xid(79)->meaning.find("off the bus"), std::string_view::npos);
  EXPECT_EQ(find_xid(39), find_xid(41));
  EXPECT_EQ(find_xid(96), find_xid(105));
  EXPECT_EQ(find_xid(0), nullptr);
  EXPECT_EQ(find_xid(42), nullptr);
  EXPECT_EQ(find_xid(177), nullptr);
  EXPECT_EQ(find_xid(-1), nullptr);
}

TEST(Xid, KnowsWhichAreTheProgramsOwnFault) {
  for (const int number : {13, 31, 43, 45, 68, 109}) EXPECT_TRUE(find_xid(number)->application) << number;
  for (const int number : {48, 63, 64, 74, 79, 94, 95, 119}) EXPECT_FALSE(find_xid(number)->application) << number;
}

}  // namespace
}  // namespace gpulse
