// SPDX-License-Identifier: Apache-2.0
#include "insight/usual.hpp"

#include <gtest/gtest.h>

#include "metric/state_names.hpp"

namespace gpulse::insight {
namespace {

Event throttle(EventKind kind, std::uint64_t bits) {
  return {.time = {}, .device = "", .kind = kind, .code = static_cast<std::int64_t>(bits), .text = ""};
}

TEST(Usual, ThePowerLimitOfAJobIsAndHeatIsNot) {
  EXPECT_TRUE(is_usual(Finding{.id = FindingId::throttled_power, .weight = Weight::note}));
  EXPECT_FALSE(is_usual(Finding{.id = FindingId::throttled_power, .weight = Weight::problem}));
  EXPECT_FALSE(is_usual(Finding{.id = FindingId::throttled_thermal, .weight = Weight::problem}));
  EXPECT_FALSE(is_usual(Finding{.id = FindingId::memory_headroom, .weight = Weight::note}));
}

TEST(Usual, AnEventIsWhatItTellsOf) {
  constexpr auto kCap = state_names::throttle_bit("power cap"), kHeat = state_names::throttle_bit("hw thermal");
  for (const auto kind : {EventKind::throttle, EventKind::throttle_ended}) {
    EXPECT_TRUE(is_usual(throttle(kind, kCap)));
    EXPECT_FALSE(is_usual(throttle(kind, kHeat)));
    EXPECT_FALSE(is_usual(throttle(kind, kCap | kHeat)));
    EXPECT_FALSE(is_usual(throttle(kind, 0))) << "nothing is said of why";
  }
  const auto finding = [](const char *text) {
    return Event{.time = {}, .device = "", .kind = EventKind::finding, .code = 1, .text = text};
  };
  EXPECT_TRUE(is_usual(finding("throttled-power: The power limit holds the GPU back")));
  EXPECT_TRUE(is_usual(finding("throttled-power on GPU 0, 2: The power limit holds the GPU back")));
  EXPECT_FALSE(is_usual(finding("throttled-thermal: Heat holds the GPU back")));
}

}  // namespace
}  // namespace gpulse::insight
