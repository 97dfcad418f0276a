// SPDX-License-Identifier: Apache-2.0
#include "serve/throttle.hpp"

#include <gtest/gtest.h>

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;

constexpr Monotonic kNow{1000s};

TEST(Throttle, WhoWasNeverWrongDoesNotWait) {
  Throttle throttle;
  EXPECT_EQ(throttle.turn("10.0.0.1", kNow), 0ms);
  throttle.failed("10.0.0.1", kNow);
  EXPECT_EQ(throttle.turn("10.0.0.2", kNow), 0ms);
}

TEST(Throttle, EachTimeItTakesLonger) {
  Throttle throttle;
  auto now = kNow;
  std::vector<std::chrono::milliseconds> delays;
  for (int i = 0; i < 7; ++i) {
    const auto failure = throttle.failed("10.0.0.1", now);
    EXPECT_EQ(failure.is_first, i == 0);
    delays.push_back(failure.delay);
    now += failure.delay;
  }
  EXPECT_EQ(delays, (std::vector{100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}));
}

// Else somebody who hangs up when no answer comes at once would learn as much as by waiting.
TEST(Throttle, ManyAtATimeAreNoFaster) {
  Throttle throttle;
  int looked_at = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!throttle.turn("10.0.0.1", kNow)) continue;
    ++looked_at;
    throttle.failed("10.0.0.1", kNow);
  }
  EXPECT_EQ(looked_at, 6) << "100 + 200 + 400 + 800 + 1600 + 2000 ms are more than five seconds";
  EXPECT_EQ(throttle.turn("10.0.0.1", kNow + 1s), 4100ms) << "what is right waits as well";
  EXPECT_EQ(throttle.turn("10.0.0.1", kNow + 6s), 0ms);
}

TEST(Throttle, ANetworkOfIpv6IsOneAddress) {
  Throttle throttle;
  throttle.failed("2001:db8:1:2::1", kNow);
  EXPECT_EQ(throttle.turn("2001:db8:1:2:ffff::7", kNow), 100ms);
  EXPECT_EQ(throttle.turn("2001:db8:1:3::1", kNow), 0ms);
}

TEST(Throttle, ForgetsWhoHasGivenUp) {
  Throttle throttle;
  for (int i = 0; i < 3; ++i) throttle.failed("10.0.0.1", kNow);
  EXPECT_TRUE(throttle.forget(kNow + 10min).empty());
  EXPECT_EQ(throttle.forget(kNow + 10min + 1s), (std::map<std::string, std::uint64_t>{{"10.0.0.1", 3}}));
  EXPECT_EQ(throttle.remembered(), 0U);
}

TEST(Throttle, IsBounded) {
  Throttle throttle;
  for (int i = 0; i < 5000; ++i) {
    throttle.failed("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250), kNow + i * 1ms);
  }
  EXPECT_EQ(throttle.remembered(), 1024U);
}

}  // namespace
}  // namespace gpulse::serve
