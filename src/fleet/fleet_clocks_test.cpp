// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_clocks.hpp"

#include <gtest/gtest.h>

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow(1'700'000'000s);

std::vector<EngineSeries> host_at(WallTime time) {
  return {{.labels = {{"instance", "n1"}}, .points = {{.time = 0, .value = Seconds(time.time_since_epoch()).count()}}}};
}

TEST(FleetClocks, AreCorrectedByTheScrapersWhereTheyAreWrong) {
  const auto told = host_at(kNow), going = host_at(kNow);
  FleetParts parts{};
  const auto corrected = [&](WallTime own) { return FleetClocks(parts).corrected(host_key_of("n1", ""), own, 2min); };
  EXPECT_FALSE(corrected(kNow - 3h)) << "nobody knows better";
  parts[static_cast<std::size_t>(FleetPart::told)] = &told;
  EXPECT_EQ(corrected(kNow + 3h), kNow);
  EXPECT_FALSE(corrected(kNow + 1min));
  EXPECT_FALSE(corrected(kNow - 3h)) << "it stands still: the sample is old";
  parts[static_cast<std::size_t>(FleetPart::going)] = &going;
  EXPECT_EQ(corrected(kNow - 3h), kNow);
  EXPECT_FALSE(corrected(kNow - 1min));
}

TEST(FleetClocks, AreSlowWhereTheScraperIsFarAhead) {
  const auto told = host_at(kNow), right = host_at(kNow - 10s), slow = host_at(kNow - 2h);
  FleetParts parts{};
  parts[static_cast<std::size_t>(FleetPart::told)] = &told;
  parts[static_cast<std::size_t>(FleetPart::alive)] = &right;
  EXPECT_FALSE(has_slow_clock(parts));
  parts[static_cast<std::size_t>(FleetPart::alive)] = &slow;
  EXPECT_TRUE(has_slow_clock(parts));
}

TEST(FleetClocks, AreOffInWords) {
  EXPECT_EQ(off_words(-2h), "2 h slow");
  EXPECT_EQ(off_words(40min), "40 min fast");
  EXPECT_EQ(off_words(-90s), "90 s slow");
}

}  // namespace
}  // namespace gpulse::fleet
