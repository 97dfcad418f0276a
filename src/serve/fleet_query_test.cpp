// SPDX-License-Identifier: Apache-2.0
#include "serve/fleet_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const WallTime kNow(1'700'000'000s);

http::Request with(http::Fields query) { return {.path = "/api/v1/fleet", .query = std::move(query)}; }

TEST(FleetQuery, IsOfAllHostsNowUnlessSaidOtherwise) {
  const auto asked = asked_fleet(with({}), kNow);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->question.by, fleet::FleetBy::host);
  EXPECT_EQ(asked->question.sort, fleet::FleetSort::health);
  EXPECT_TRUE(asked->question.filters.empty());
  EXPECT_FALSE(asked->at);
}

TEST(FleetQuery, TakesSeveralFiltersAndAMoment) {
  const auto asked = asked_fleet(
      with({{"by", "user"}, {"sort", "waste"}, {"filter", "user=a*"}, {"filter", "host=n1"}, {"at", "1699999999.7"}}),
      kNow);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->question.by, fleet::FleetBy::user);
  EXPECT_EQ(asked->question.sort, fleet::FleetSort::waste);
  ASSERT_EQ(asked->question.filters.size(), 2U);
  EXPECT_EQ(asked->question.filters[0].value, "a*");
  EXPECT_EQ(asked->at, WallTime(1'699'999'999s)) << "so that many who look at it share an answer";
}

TEST(FleetQuery, SaysWhichParameterIsWrong) {
  const std::vector<std::pair<http::Fields, std::string>> wrong{
      {{{"by", "colour"}}, "by"},
      {{{"by", "user"}, {"by", "host"}}, "by"},
      {{{"sort", ""}}, "sort"},
      {{{"filter", "colour=red"}}, "filter"},
      {{{"filter", "user="}}, "filter"},
      {{{"filter", "user=" + std::string(400, 'a')}}, "filter"},
      {http::Fields(kMostFilters + 1, {"filter", "user=a"}), "filter"},
      {http::Fields(6, {"filter", "user=" + std::string(290, 'a')}), "filter"},
      {{{"at", "yesterday"}}, "at"},
      {{{"at", "1700000001"}}, "at"},
      {{{"points", "3"}}, "points"},
  };
  for (const auto &[fields, name] : wrong) {
    const auto asked = asked_fleet(with(fields), kNow);
    ASSERT_FALSE(asked) << name;
    EXPECT_EQ(asked.error().status, 400);
    EXPECT_EQ(asked.error().field, name);
  }
}

TEST(FleetQuery, OfCurvesNeedsASpan) {
  EXPECT_EQ(asked_fleet_curves(with({}), kNow).error().field, "from");
  EXPECT_EQ(asked_fleet_curves(with({{"since", "400d"}}), kNow).error().field, "from");
  EXPECT_EQ(asked_fleet_curves(with({{"since", "1h"}, {"points", "1001"}}), kNow).error().field, "points");
  EXPECT_EQ(asked_fleet_curves(with({{"since", "1h"}, {"at", "3"}}), kNow).error().field, "at");
  const auto asked = asked_fleet_curves(with({{"since", "1h"}, {"by", "user"}}), kNow);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->span.from, kNow - 1h);
  EXPECT_EQ(asked->points, 300U);
}

TEST(FleetQuery, HasOneKeyPerQuestion) {
  const auto key = [](std::vector<fleet::FleetFilter> filters) {
    return key_of(fleet::FleetQuestion{.filters = std::move(filters)});
  };
  EXPECT_EQ(key({{"user", "ann"}}), key({{"user", "ann"}}));
  EXPECT_NE(key({{"user", "ann user=3:bob"}}), key({{"user", "ann"}, {"user", "bob"}}));
}

}  // namespace
}  // namespace gpulse::serve
