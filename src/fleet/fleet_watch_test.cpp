// SPDX-License-Identifier: Apache-2.0
// How an engine is watched that is slow or refuses.
#include "fleet/fleet_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FakeEngine;
using ::testing::HasSubstr;
using testing::Said;

template <class Is>
bool becomes_true(Is is) {
  const auto end = monotonic_now() + 10s;
  while (!is()) {
    if (monotonic_now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

TEST(FleetWatch, LeavesASlowEngineTheIntervalToRest) {
  std::mutex mutex;
  std::vector<Monotonic> asked;
  FakeEngine engine([&](const http::Request &) -> Said {
    const std::lock_guard lock(mutex);
    asked.push_back(monotonic_now());
    return {.status = 500, .pause = 300ms};
  });
  const FleetWatch watch({.engine = engine.options(), .interval = 200ms});
  ASSERT_TRUE(becomes_true([&] { return engine.asked().size() >= 3; }));
  const std::lock_guard lock(mutex);
  EXPECT_GE(asked[1] - asked[0], 300ms + 150ms);
  EXPECT_GE(asked[2] - asked[1], 300ms + 150ms);
}

TEST(FleetWatch, SaysWhatIsWrongAndWhatToDo) {
  const FakeEngine engine(Said{.status = 401});
  const FleetWatch watch({.engine = engine.options(), .interval = 1h});
  ASSERT_TRUE(becomes_true([&] { return !watch.news().trouble.empty(); }));
  const auto news = watch.news();
  EXPECT_THAT(news.trouble.str(), HasSubstr("answered 401"));
  EXPECT_THAT(news.hint.str(), HasSubstr("check the token"));
}

}  // namespace
}  // namespace gpulse::fleet
