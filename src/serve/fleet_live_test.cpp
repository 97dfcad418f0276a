// SPDX-License-Identifier: Apache-2.0
#include "serve/fleet_live.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "serve/testing.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;

fleet::FleetNews look(FleetLive &live) {
  const auto told = std::make_shared<std::promise<fleet::FleetNews>>();
  auto coming = told->get_future();
  live.look([told](const fleet::FleetNews &news) { told->set_value(news); });
  return coming.get();
}

TEST(FleetLive, AfterARestItShowsNothingOfBefore) {
  testing::FakeEngine engine;
  engine.set(testing::MadeHost{}.all());
  FleetLive live({.engine = engine.options(), .interval = 10ms, .rests_after = 20ms, .patience = 5s});
  const auto before = look(live);
  ASSERT_NE(before.fleet, nullptr);
  for (int i = 0; i < 400 && live.peek(); ++i) std::this_thread::sleep_for(5ms);
  ASSERT_FALSE(live.peek()) << "it rests";
  std::this_thread::sleep_for(50ms);
  const auto asked = engine.asked();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(engine.asked(), asked);
  const auto woken = wall_now();
  const auto after = look(live);
  ASSERT_NE(after.fleet, nullptr);
  EXPECT_GE(after.fleet->at, woken);
}

TEST(FleetLive, AfterARestAnEngineThatIsAwayIsToldSo) {
  testing::FakeEngine engine;
  engine.set(testing::MadeHost{}.all());
  FleetLive live({.engine = engine.options(), .interval = 10ms, .rests_after = 20ms, .patience = 200ms});
  ASSERT_NE(look(live).fleet, nullptr);
  for (int i = 0; i < 400 && live.peek(); ++i) std::this_thread::sleep_for(5ms);
  engine.hang(true);
  const auto after = look(live);
  EXPECT_EQ(after.fleet, nullptr) << "it is of before the rest";
  EXPECT_TRUE(after.is_asking);
}

}  // namespace
}  // namespace gpulse::serve
