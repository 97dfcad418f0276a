// SPDX-License-Identifier: Apache-2.0
#include "fleet/usage_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const WallTime kEnd{1'700'000'040s};  // a full minute
const WallTime kLater = kEnd + 24h;

TEST(UsagePlan, CoversTheTimeThatWasAskedFor) {
  const auto plan = plan_usage(kEnd - 7 * 24h, kEnd, kLater, 8, Seconds(15));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->from, kEnd - 7 * 24h);
  EXPECT_EQ(plan->to, kEnd);
  EXPECT_EQ(plan->window, 5min);
  EXPECT_EQ(plan->resolution, 15s);
  ASSERT_EQ(plan->runs.size(), 1U);
  EXPECT_EQ(plan->runs[0].count, 7 * 24 * 12U);
  EXPECT_EQ(plan->runs[0].end_of(plan->runs[0].count - 1), kEnd);
}

TEST(UsagePlan, HasLongerStretchesForMoreGpus) {
  const auto plan = plan_usage(kEnd - 7 * 24h - 17min, kEnd, kLater, 8000, Seconds(15));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->window, 30min) << "2.7 million stretches";
  EXPECT_EQ(plan->resolution, 60s);
  ASSERT_EQ(plan->runs.size(), 2U) << "what is no whole stretch comes first";
  EXPECT_EQ(plan->runs[0].window, 17min);
  EXPECT_EQ(plan->runs[0].first_end, plan->from + 17min);
  EXPECT_EQ(plan->runs[1].first_end, plan->from + 47min);
  EXPECT_EQ(plan->runs[1].end_of(plan->runs[1].count - 1), kEnd);
}

TEST(UsagePlan, HasSeveralValuesOfACounterInEach) {
  EXPECT_EQ(plan_usage(kEnd - 24h, kEnd, kLater, 1, Seconds(60))->window, 5min);
  EXPECT_EQ(plan_usage(kEnd - 24h, kEnd, kLater, 1, Seconds(90))->window, 10min);
  EXPECT_EQ(plan_usage(kEnd - 24h, kEnd, kLater, 1, Seconds(100'000))->window, 24h);
}

TEST(UsagePlan, LeavesOutWhatAnEngineMayNotShowYet) {
  const auto plan = plan_usage(kEnd - 1h, kEnd, kEnd, 1, Seconds(15));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->to, kEnd - 1min);
  EXPECT_EQ(plan->from, kEnd - 1h);
  ASSERT_EQ(plan->runs.size(), 2U);
  EXPECT_EQ(plan->runs[0].window, 9min) << "four minutes are too short for a stretch of their own";
  EXPECT_EQ(plan->runs[1].count, 10U);
  EXPECT_FALSE(plan_usage(kEnd - 5min, kEnd, kEnd, 1, Seconds(15)));
  EXPECT_TRUE(plan_usage(kEnd - 6min, kEnd, kEnd, 1, Seconds(15)));
  EXPECT_FALSE(plan_usage(kEnd, kEnd - 1h, kLater, 1, Seconds(15)));
}

TEST(UsageQuery, CountsMomentsWithoutCountingAnyTwice) {
  EXPECT_EQ(usage_query(UsagePart::present, {}, 5min, 15s),
            "max by (instance,uuid) (count_over_time(gpulse_gpu_state{state=\"ok\"}[299999ms:15s]))");
  EXPECT_EQ(usage_query(UsagePart::energy, {}, 5min, 15s),
            "max by (instance,uuid) (increase(gpulse_energy_joules_total[300s]))");
  EXPECT_THAT(usage_query(UsagePart::active, {}, 1h, 60s), HasSubstr("increase(gpulse_busy_seconds_total[3600s])"));
  EXPECT_THAT(usage_query(UsagePart::used, {}, 1h, 60s), HasSubstr("increase(gpulse_sm_busy_seconds_total[3600s])"));
}

TEST(UsageQuery, NamesInstancesSafely) {
  const auto query = usage_query(UsagePart::present, {"a.b:1", "c|d", "e\"}\\"}, 5min, 15s);
  EXPECT_THAT(query, HasSubstr(R"({state="ok",instance=~"a\\.b:1|c\\|d|e\"\\}\\\\"})"));
  EXPECT_THAT(usage_query(UsagePart::held, {"n1"}, 5min, 15s), HasSubstr("gpulse_gpu_owner_info{instance=~\"n1\"}["));
}

}  // namespace
}  // namespace gpulse::fleet
