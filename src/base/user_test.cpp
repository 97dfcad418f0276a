// SPDX-License-Identifier: Apache-2.0
#include "base/user.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

TEST(UserName, OfTheSystemsOwn) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(user_name(3999999), "") << "nobody has that number";
}

}  // namespace
}  // namespace gpulse
