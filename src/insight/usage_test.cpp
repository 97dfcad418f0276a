// SPDX-License-Identifier: Apache-2.0
#include "insight/usage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::insight {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

std::vector<double> split(const std::vector<Presence> &present) { return split_held(60, present); }

TEST(SharedGpus, AreDividedAmongTheirOwners) {
  EXPECT_THAT(split({{0, 60}}), ElementsAre(60));
  EXPECT_THAT(split({{0, 60}, {1, 60}}), ElementsAre(30, 30));
  EXPECT_THAT(split({{0, 60}, {0, 60}, {0, 60}, {1, 60}}), ElementsAre(10, 10, 10, 30))
      << "several processes of one owner have one part";
  EXPECT_THAT(split({{0, 20}, {1, 35}}), ElementsAre(20, 35)) << "one after the other";
  EXPECT_THAT(split({{0, 5}, {0, 5}, {0, 5}}), ElementsAre(5, 5, 5));
  EXPECT_THAT(split({{0, 60}, {1, 30}}), ElementsAre(40, 20));
  EXPECT_THAT(split({}), ElementsAre());
  EXPECT_THAT(split_held(0, std::vector<Presence>{{0, 0}}), ElementsAre(0));
}

TEST(SharedGpus, WorkForThoseWhoHoldThem) {
  const DeviceStretch stretch{.seconds = 60, .utilization = 0.5, .true_activity = 0.25, .joules = 600};
  const auto one = time_of_holder(stretch, 40, 10);
  EXPECT_THAT(one.active, DoubleEq(7.5)) << "a quarter of the 30 busy seconds";
  EXPECT_THAT(one.used, DoubleEq(3.75));
  EXPECT_THAT(one.wasted, DoubleEq(6.25));
  EXPECT_THAT(one.joules, DoubleEq(100));
  EXPECT_EQ(one.estimated, 0);
  EXPECT_THAT(time_of_holder(stretch, 20, 20).active, DoubleEq(20)) << "no longer than they held it";
  const auto nobody = time_of_nobody(stretch, 20);
  EXPECT_EQ(nobody.held, 40);
  EXPECT_THAT(nobody.active, DoubleEq(10));
  EXPECT_THAT(nobody.joules, DoubleEq(400));
}

TEST(WhatIsNotKnown, IsNot0) {
  const auto nothing = time_of_holder({.seconds = 60}, 60, 60);
  EXPECT_EQ(nothing.held, 60);
  EXPECT_EQ(nothing.wasted_of, 0);
  EXPECT_EQ(nothing.joules_of, 0);
  const auto busy = time_of_holder({.seconds = 60, .utilization = 0.5}, 60, 60);
  EXPECT_EQ(busy.used_of, 0);
  EXPECT_EQ(busy.wasted, 30);
  EXPECT_EQ(busy.estimated, 60);
}

UsageShare share(const char *user, const char *job, double held, double wasted, std::map<FindingId, double> lost = {}) {
  return {
      .holder =
          {.host = "n1", .uuid = "GPU-1", .model = "H200", .user = user, .job = job, .account = "", .command = "a.out"},
      .time = {.held = held, .wasted = wasted, .wasted_of = held},
      .lost = std::move(lost)};
}

TEST(AReport, AddsUpAndSortsByWaste) {
  Usage usage;
  usage.shares = {share("ann", "7", 100, 10), share("bob", "", 50, 40, {{FindingId::hung, 30}, {FindingId::idle, 5}}),
                  share("ann", "8", 20, 20)};
  usage.shares.push_back(
      {.holder = {.host = "n1", .uuid = "GPU-1", .model = "H200", .is_nobody = true}, .time = {.held = 30}});
  const auto report = make_usage_report(usage, {.by = UsageBy::user, .top = 2});
  ASSERT_EQ(report.rows.size(), 2);
  EXPECT_EQ(report.rows[0].name, "bob");
  EXPECT_EQ(report.rows[0].worst, FindingId::hung);
  EXPECT_EQ(report.rows[1].time.held, 120);
  EXPECT_EQ(report.nobody.held, 30);
  ASSERT_EQ(report.worst.size(), 2) << "as many as were asked for";
  EXPECT_EQ(report.worst[0].command, "a.out") << "it has no job";
  EXPECT_EQ(report.worst[1].job, "8");
  usage.shares[0].holder.account = usage.shares[2].holder.account = "physics";
  const auto accounts = make_usage_report(usage, {.by = UsageBy::account});
  ASSERT_EQ(accounts.rows.size(), 2);
  EXPECT_EQ(accounts.rows[0].name, "") << "of no account";
  EXPECT_EQ(accounts.rows[1].name, "physics");
  EXPECT_EQ(accounts.rows[1].time.held, 120);
  const auto alone = make_usage_report(usage, {.user = "ann"});
  EXPECT_EQ(alone.held.held, 120);
  EXPECT_EQ(alone.nobody.held, 0);
}

}  // namespace
}  // namespace gpulse::insight
