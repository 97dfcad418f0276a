// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_curves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

std::string query(FleetCurve curve, const std::vector<FleetFilter> &filters) {
  return curve_query(curve, filters).value_or("refused");
}

TEST(FleetCurves, OfAllAskForTheMeanOfWholeGpus) {
  const auto text = query(FleetCurve::true_activity, {});
  EXPECT_THAT(text, HasSubstr("avg(max by (instance,cluster,uuid) (gpulse_sm_active_ratio{gpu!~\".*:.*\"})"));
  EXPECT_THAT(query(FleetCurve::power, {}), HasSubstr("sum(max by"));
  EXPECT_THAT(query(FleetCurve::gpus, {}), HasSubstr("count(max by"));
}

TEST(FleetCurves, FiltersAreConditionsAtEachMoment) {
  const auto text =
      query(FleetCurve::utilization, {{"host", "node*"}, {"host", "n.1"}, {"user", "ann"}, {"model", "*H100"}});
  EXPECT_THAT(text, HasSubstr(R"q(,instance=~"(?i:(node.*|n\\.1)(:9837)?)")q"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"q(and on (instance,cluster,uuid) (max by (instance,cluster,uuid) (gpulse_gpu_owner_info{user=~"(?i:ann)"}))q"));
  EXPECT_THAT(text, HasSubstr(R"q(gpulse_gpu_info{name=~"(?i:.*H100)"})q"));
}

TEST(FleetCurves, KnowHostsOfWhichSeveralClustersHaveOne) {
  const auto text = query(FleetCurve::power, {{"host", "east/n1"}, {"host", "n2"}});
  EXPECT_THAT(text,
              HasSubstr(R"q(}) and on (instance,cluster) ()q"
                        R"q(gpulse_sample_timestamp_seconds{cluster=~"(?i:east)",instance=~"(?i:(n1)(:9837)?)"} or )q"
                        R"q(gpulse_sample_timestamp_seconds{instance=~"(?i:(n2)(:9837)?)"}))q"));
}

TEST(FleetCurves, WhoHoldsAnInstanceHoldsItsGpu) {
  const std::string owner = R"q(max by (instance,cluster,uuid) (gpulse_gpu_owner_info{user=~"(?i:zoe)"}))q";
  EXPECT_THAT(query(FleetCurve::utilization, {{"user", "zoe"}}),
              HasSubstr("((" + owner +
                        ") or max by (instance,cluster,uuid) (label_replace(max by "
                        "(instance,cluster,parent) (max by (instance,cluster,uuid,parent) "
                        "(gpulse_gpu_info{parent!=\"\"}) and on (instance,cluster,uuid) (" +
                        owner +
                        ")), "
                        "\"uuid\", \"$1\", \"parent\", \"(.+)\")))"));
}

TEST(FleetCurves, ANameThatIsNotThereFitsNothing) {
  EXPECT_THAT(query(FleetCurve::held, {{"user", "*"}}), HasSubstr(R"q(user=~"(?i:.+)")q"));
}

TEST(FleetCurves, KnowJobsOfWhichSeveralClustersHaveOne) {
  EXPECT_THAT(query(FleetCurve::held, {{"job", "east/1234"}}),
              HasSubstr(R"q(gpulse_gpu_owner_info{batch_job=~"(?i:1234)",cluster=~"(?i:east)"})q"));
}

TEST(FleetCurves, AFilterCannotLeaveItsQuotes) {
  const auto text = query(FleetCurve::held, {{"user", "a\"}) or up{x=\"\\\n"}});
  EXPECT_THAT(text, HasSubstr(R"q(user=~"(?i:a\"\\}\\) or up\\{x=\"\\\\\n)")q"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(FleetCurves, RefuseWhatNoQueryCanHave) {
  for (const auto *word : {"pod", "state"}) {
    const std::vector<FleetFilter> filters{{word, "x"}};
    const auto refused = curve_query(FleetCurve::gpus, filters);
    ASSERT_FALSE(refused) << word;
    EXPECT_THAT(refused.error().line(), HasSubstr("host, cluster, user, job, account, model and finding"));
  }
  const std::vector<FleetFilter> set{{"user", "[ab]"}};
  EXPECT_FALSE(curve_query(FleetCurve::gpus, set));
}

TEST(FleetCurves, LieOnWholeMultiplesOfTheStep) {
  const WallTime from(1700000003s), to(1700000103s);
  const auto axis = curve_axis(from, to, 1000, 15s);
  EXPECT_EQ(axis.step, 15s) << "nothing finer is known";
  EXPECT_EQ(axis.first, WallTime(1700000010s));
  EXPECT_EQ(axis.count, 7U) << "10, 25, 40, 55, 70, 85, 100";
  const auto coarse = curve_axis(from, to, 3, 15s);
  EXPECT_EQ(coarse.step, 45s) << "a third is 33 s";
  EXPECT_EQ(curve_axis(from, from + 1s, 300, 15s).count, 0U);
}

TEST(FleetCurves, PutValuesWhereTheyBelong) {
  const CurveAxis axis{.first = WallTime(1000s), .step = 10s, .count = 4};
  const std::vector<EngineSeries> answer{{.points = {{1000, 0.5}, {1020, 0.25}, {1030, NAN}, {1040, 1}, {990, 1}}}};
  const auto values = curve_values(FleetCurve::true_activity, axis, answer);
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0], 50) << "in per cent";
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 25);
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(fleet_curves_json(axis, std::vector<std::vector<double>>{values}),
            R"({"schema":"gpulse-fleet-curves/1","start_seconds":1000,"step_seconds":10,"count":4,"only_agents":true,)"
            R"("series":[{"name":"sm_active_percent","unit":"%","value":[50,null,25,null]}]})");
}

}  // namespace
}  // namespace gpulse::fleet
