// SPDX-License-Identifier: Apache-2.0
#include "base/alarm.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace gpulse {
namespace {

using namespace std::chrono_literals;

TEST(Alarm, GoesOffAtItsTimeAlsoWhenThatHasPassed) {
  Alarm alarm;
  const auto time = monotonic_now() + 20ms;
  alarm.set(time);
  alarm.wait();
  EXPECT_GE(monotonic_now(), time);
  alarm.set(monotonic_now() - 1s);
  alarm.wait();
  EXPECT_LT(monotonic_now(), time + 10s);
}

TEST(Alarm, AnotherThreadPutsItOffAndBringsItForward) {
  Alarm alarm;
  const auto begun = monotonic_now();
  alarm.set(begun + 1h);
  const std::jthread other([&] {
    std::this_thread::sleep_for(20ms);
    alarm.set(begun + 2h);
    alarm.set(monotonic_now());
  });
  alarm.wait();
  const auto waited = monotonic_now() - begun;
  EXPECT_GE(waited, 20ms);
  EXPECT_LT(waited, 10s);
}

}  // namespace
}  // namespace gpulse
