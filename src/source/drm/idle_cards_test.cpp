// SPDX-License-Identifier: Apache-2.0
#include "source/drm/idle_cards.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::drm {
namespace {

using namespace std::chrono_literals;

class IdleCardsTest : public testing::Test {
 protected:
  IdleCardsTest() {
    card_.name = "card1";
    card_.device = "/card1";
    power("control", "auto");
    power("runtime_status", "active");
    use(0);
  }
  void power(const std::string &file, const std::string &text) { folder_.write("/card1/power/" + file, text + "\n"); }
  void use(const Reading &percent) { frame_.row[device_metric("gpu_utilization_percent")] = percent; }
  bool try_release(std::chrono::nanoseconds at) { return idle_cards_.try_release(root_, card_, frame_, kStart + at); }
  bool try_take_back(std::chrono::nanoseconds at) { return idle_cards_.try_take_back(root_, {&card_, 1}, kStart + at); }

  static constexpr Monotonic kStart{1h};
  TemporaryFolder folder_;
  Sysroot root_ = folder_.root();
  Card card_;
  Frame frame_{Row(Scope::device), {}};
  IdleCards idle_cards_{15s};
};

TEST_F(IdleCardsTest, AnIdleCardIsReleased) {
  use(Reason::not_sampled);
  EXPECT_FALSE(try_release(0s));
  use(0);
  EXPECT_FALSE(try_release(14s));
  EXPECT_TRUE(try_release(15s));
  EXPECT_TRUE(try_release(16s));
  EXPECT_FALSE(try_take_back(34s));
  EXPECT_TRUE(try_take_back(35s));
  EXPECT_FALSE(try_take_back(36s));
}

TEST_F(IdleCardsTest, OneAtWorkIsNot) {
  use(3);
  for (const auto at : {0s, 20s, 40s}) EXPECT_FALSE(try_release(at));
  use(0);
  EXPECT_FALSE(try_release(54s));
  EXPECT_TRUE(try_release(55s));
}

TEST_F(IdleCardsTest, OneThatMayNotSleepIsNot) {
  use(1);
  EXPECT_FALSE(try_release(0s));
  use(0);
  power("control", "on");
  EXPECT_FALSE(try_release(1min));
}

TEST_F(IdleCardsTest, OneThatSomebodyElseHoldsIsKeptForLong) {
  use(1);
  EXPECT_FALSE(try_release(0s));
  use(0);
  EXPECT_TRUE(try_release(20s));
  EXPECT_TRUE(try_take_back(40s));
  EXPECT_FALSE(try_release(9min));
  EXPECT_TRUE(try_release(11min));
}

TEST_F(IdleCardsTest, OneThatFellAsleepIsReleasedAgain) {
  use(1);
  EXPECT_FALSE(try_release(0s));
  use(0);
  EXPECT_TRUE(try_release(20s));
  power("runtime_status", "suspended");
  EXPECT_TRUE(try_take_back(40s));
  power("runtime_status", "active");
  use(Reason::not_sampled);
  EXPECT_FALSE(try_release(50s));
  use(0);
  EXPECT_TRUE(try_release(65s));
}

TEST_F(IdleCardsTest, NeverWhereItIsNotAskedFor) {
  IdleCards never(0s);
  EXPECT_FALSE(never.try_release(root_, card_, frame_, kStart + 1h));
}

}  // namespace
}  // namespace gpulse::drm
