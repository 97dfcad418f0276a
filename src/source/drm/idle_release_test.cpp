// SPDX-License-Identifier: Apache-2.0
#include "source/drm/idle_release.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::drm {
namespace {

using namespace std::chrono_literals;

class RestTest : public testing::Test {
 protected:
  RestTest() {
    card_.name = "card1";
    card_.device = "/card1";
    power("control", "auto");
    power("runtime_status", "active");
    use(0);
  }
  void power(const std::string &file, const std::string &text) { folder_.write("/card1/power/" + file, text + "\n"); }
  void use(const Reading &percent) { frame_.row[device_metric("gpu_utilization_percent")] = percent; }
  bool wanted(std::chrono::nanoseconds at) { return idle_release_.wanted(root_, card_, frame_, kStart + at); }
  bool over(std::chrono::nanoseconds at) { return idle_release_.over(root_, {&card_, 1}, kStart + at); }

  static constexpr Monotonic kStart{1h};
  TemporaryFolder folder_;
  Sysroot root_ = folder_.root();
  Card card_;
  Frame frame_{Row(Scope::device), {}};
  IdleRelease idle_release_{15s};
};

TEST_F(RestTest, AnIdleCardIsLeftAlone) {
  use(Reason::not_sampled);
  EXPECT_FALSE(wanted(0s));
  use(0);
  EXPECT_FALSE(wanted(14s));
  EXPECT_TRUE(wanted(15s));
  EXPECT_TRUE(wanted(16s));
  EXPECT_FALSE(over(34s));
  EXPECT_TRUE(over(35s));
  EXPECT_FALSE(over(36s));
}

TEST_F(RestTest, OneAtWorkIsNot) {
  use(3);
  for (const auto at : {0s, 20s, 40s}) EXPECT_FALSE(wanted(at));
  use(0);
  EXPECT_FALSE(wanted(54s));
  EXPECT_TRUE(wanted(55s));
}

TEST_F(RestTest, OneThatMayNotSleepIsNot) {
  use(1);
  EXPECT_FALSE(wanted(0s));
  use(0);
  power("control", "on");
  EXPECT_FALSE(wanted(1min));
}

TEST_F(RestTest, OneThatSomebodyElseHoldsIsLookedAtForLong) {
  use(1);
  EXPECT_FALSE(wanted(0s));
  use(0);
  EXPECT_TRUE(wanted(20s));
  EXPECT_TRUE(over(40s));
  EXPECT_FALSE(wanted(9min));
  EXPECT_TRUE(wanted(11min));
}

TEST_F(RestTest, OneThatFellAsleepMayRestAgain) {
  use(1);
  EXPECT_FALSE(wanted(0s));
  use(0);
  EXPECT_TRUE(wanted(20s));
  power("runtime_status", "suspended");
  EXPECT_TRUE(over(40s));
  power("runtime_status", "active");
  use(Reason::not_sampled);
  EXPECT_FALSE(wanted(50s));
  use(0);
  EXPECT_TRUE(wanted(65s));
}

TEST_F(RestTest, NeverWhereItIsNotAskedFor) {
  IdleRelease never(0s);
  EXPECT_FALSE(never.wanted(root_, card_, frame_, kStart + 1h));
}

}  // namespace
}  // namespace gpulse::drm
