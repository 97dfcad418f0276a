// SPDX-License-Identifier: Apache-2.0
#include "fleet/usage_stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using insight::FindingId;
using ::testing::DoubleEq;
using ::testing::DoubleNear;

constexpr double kFirst = 1'700'000'100;
constexpr auto kStep = 15s;

EngineGpu gpu(const char *uuid, const char *parent = "", const char *instance = "n1:9837") {
  return {.instance = instance, .uuid = uuid, .host = "n1", .name = "H200", .parent = parent};
}

// The values of one stretch after the other; negative: there is none.
EngineSeries series(const char *uuid, const std::vector<double> &values, std::vector<Label> more = {},
                    const char *instance = "n1:9837") {
  EngineSeries out{.labels = {{"instance", instance}, {"uuid", uuid}}};
  out.labels.insert(out.labels.end(), more.begin(), more.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0) out.points.push_back({kFirst + 300.0 * static_cast<double>(i), values[i]});
  }
  return out;
}

class Stretches {
 public:
  explicit Stretches(std::vector<EngineGpu> gpus, bool is_part = false) : stretches(std::move(gpus), is_part) {
    const UsagePlan::Run run{.first_end = WallTime(std::chrono::seconds(1'700'000'100)), .count = 2, .window = 300s};
    stretches.begin(run, 0, 2, kStep);
  }
  void take(UsagePart part, const std::vector<EngineSeries> &all) { stretches.take(part, all); }
  insight::Usage usage() {
    stretches.add_up();
    return stretches.usage();
  }
  UsageStretches stretches;
};

const insight::UsageShare *find(const insight::Usage &usage, std::string_view user, std::string_view uuid = "GPU-a") {
  for (const auto &share : usage.shares) {
    const auto &who = share.holder;
    if (who.uuid.str() == uuid && (who.is_nobody ? user == "nobody" : who.user.str() == user)) return &share;
  }
  return nullptr;
}

TEST(UsageStretches, BelongToThoseWhoWereThere) {
  Stretches all({gpu("GPU-a")});
  all.take(UsagePart::present, {series("GPU-a", {20, 20})});
  all.take(UsagePart::held,
           {series("GPU-a", {20, 10}, {{"user", "ann"}, {"batch_job", "7"}, {"batch_account", "physics"}}),
            series("GPU-a", {20, -1}, {{"user", "bob"}})});
  all.take(UsagePart::active, {series("GPU-a", {150, 60})});
  all.take(UsagePart::used, {series("GPU-a", {60, -1})});
  all.take(UsagePart::energy, {series("GPU-a", {3000, 300})});
  const auto usage = all.usage();
  EXPECT_EQ(usage.recorded_seconds, 600);
  const auto *ann = find(usage, "ann");
  ASSERT_NE(ann, nullptr);
  EXPECT_EQ(ann->holder.job, "7");
  EXPECT_EQ(ann->holder.account, "physics");
  EXPECT_EQ(ann->holder.host, "n1");
  EXPECT_EQ(ann->holder.model, "H200");
  EXPECT_THAT(ann->time.held, DoubleEq(150 + 150)) << "half of the first, the half of the second";
  EXPECT_THAT(ann->time.active, DoubleNear(75 + 60, 1e-3)) << "the work of the second was all hers";
  EXPECT_THAT(ann->time.used, DoubleNear(30, 1e-3));
  EXPECT_THAT(ann->time.used_of, DoubleEq(150)) << "of the second it is not known";
  EXPECT_THAT(ann->time.estimated, DoubleEq(150));
  EXPECT_THAT(ann->time.joules, DoubleNear(1500 + 150, 1e-3));
  EXPECT_THAT(find(usage, "bob")->time.held, DoubleEq(150));
  EXPECT_THAT(find(usage, "nobody")->time.held, DoubleEq(150));
}

TEST(UsageStretches, WithoutAnyValueAreNot0) {
  Stretches all({gpu("GPU-a")});
  all.take(UsagePart::present, {series("GPU-a", {20, -1})});
  all.take(UsagePart::active, {series("GPU-a", {std::numeric_limits<double>::quiet_NaN(), 5})});
  const auto usage = all.usage();
  EXPECT_EQ(usage.recorded_seconds, 300);
  ASSERT_EQ(usage.shares.size(), 1U);
  EXPECT_EQ(usage.shares[0].time.held, 300);
  EXPECT_EQ(usage.shares[0].time.active_of, 0);
  EXPECT_EQ(usage.shares[0].time.joules_of, 0);
}

TEST(UsageStretches, AreNeverFuller) {
  Stretches all({gpu("GPU-a")});
  all.take(UsagePart::present, {series("GPU-a", {1e9, 10})});
  all.take(UsagePart::held, {series("GPU-a", {std::numeric_limits<double>::infinity(), 10}, {{"user", "ann"}})});
  all.take(UsagePart::active, {series("GPU-a", {1e9, 151})});
  all.take(UsagePart::energy, {series("GPU-a", {std::numeric_limits<double>::infinity(), 1})});
  const auto usage = all.usage();
  EXPECT_EQ(find(usage, "ann")->time.held, 300 + 150);
  EXPECT_THAT(find(usage, "ann")->time.active, DoubleEq(300 + 150));
  EXPECT_EQ(find(usage, "ann")->time.joules_of, 150);
}

TEST(UsageStretches, CountASeriesOnceHoweverOftenItComes) {
  Stretches all({gpu("GPU-a")});
  const auto owner = series("GPU-a", {20, 20}, {{"user", "ann"}});
  all.take(UsagePart::present, {series("GPU-a", {20, 20}), series("GPU-a", {19, -1})});
  all.take(UsagePart::held, {owner, owner});
  all.take(UsagePart::active, {series("GPU-a", {100, 100}), series("GPU-a", {90, 101})});
  const auto usage = all.usage();
  EXPECT_EQ(find(usage, "ann")->time.held, 600);
  EXPECT_THAT(find(usage, "ann")->time.active, DoubleNear(201, 1e-3));
}

TEST(UsageStretches, GiveThePartsOfADividedGpuTheirPartOfIt) {
  Stretches all({gpu("GPU-a"), gpu("MIG-1", "GPU-a"), gpu("MIG-2", "GPU-a")});
  all.take(UsagePart::present, {series("GPU-a", {20, 20}), series("MIG-1", {20, -1}), series("MIG-2", {20, -1})});
  all.take(UsagePart::held, {series("MIG-1", {20, -1}, {{"user", "ann"}})});
  all.take(UsagePart::energy, {series("GPU-a", {3000, 300})});
  const auto usage = all.usage();
  EXPECT_THAT(find(usage, "ann", "MIG-1")->time.held, DoubleEq(150)) << "half of a GPU";
  EXPECT_THAT(find(usage, "ann", "MIG-1")->time.joules, DoubleNear(1500, 1e-3));
  EXPECT_THAT(find(usage, "nobody", "MIG-2")->time.held, DoubleEq(150));
  EXPECT_THAT(find(usage, "nobody", "GPU-a")->time.held, DoubleEq(300)) << "while it was not divided";
}

TEST(UsageStretches, KnowWhatFindingsCost) {
  Stretches all({gpu("GPU-a")});
  all.take(UsagePart::present, {series("GPU-a", {20, 20})});
  all.take(UsagePart::held, {series("GPU-a", {20, -1}, {{"user", "ann"}})});
  all.take(UsagePart::lost, {series("GPU-a", {120, 30}, {{"finding", "input-cpu"}})});
  all.take(UsagePart::stood,
           {series("GPU-a", {16, 4}, {{"finding", "input-cpu"}}), series("", {20, 20}, {{"finding", "host-memory"}}),
            series("GPU-a", {20, 20}, {{"finding", "of-the-future"}})});
  const auto usage = all.usage();
  EXPECT_THAT(find(usage, "ann")->lost.at(FindingId::input_cpu), DoubleNear(120, 1e-3)) << "nobody lost the rest";
  ASSERT_EQ(usage.findings.size(), 2U);
  EXPECT_THAT(usage.findings[0].lost.value_or(-1), DoubleNear(150, 1e-3));
  EXPECT_THAT(usage.findings[0].stood.value_or(-1), DoubleEq(300));
  EXPECT_FALSE(usage.findings[0].times);
  EXPECT_EQ(usage.findings[1].id, FindingId::host_memory);
  EXPECT_FALSE(usage.findings[1].lost) << "it is about no GPU";
}

TEST(UsageStretches, TellPodsOfTwoNamespacesApart) {
  Stretches all({gpu("GPU-a")});
  all.take(UsagePart::present, {series("GPU-a", {20, -1})});
  all.take(UsagePart::held, {series("GPU-a", {5, -1}, {{"gpu_pod", "web-0"}, {"gpu_namespace", "shop"}}),
                             series("GPU-a", {5, -1}, {{"gpu_pod", "web-0"}, {"gpu_namespace", "test"}}),
                             series("GPU-a", {5, -1}, {{"gpu_container", "c1"}})});
  std::vector<std::string> jobs;
  for (const auto &share : all.usage().shares) jobs.push_back(share.holder.job);
  EXPECT_THAT(jobs, ::testing::UnorderedElementsAre("shop/web-0", "test/web-0", "c1", ""));
}

TEST(UsageStretches, SayWhichGpusCameTwice) {
  Stretches all({gpu("GPU-a"), gpu("GPU-a", "", "10.0.0.1:9837"), gpu("PCI-1"), gpu("PCI-1", "", "10.0.0.1:9837")});
  all.take(UsagePart::present, {series("GPU-a", {20, -1}), series("GPU-a", {20, 20}, {}, "10.0.0.1:9837"),
                                series("PCI-1", {20, 20}), series("PCI-1", {20, 20}, {}, "10.0.0.1:9837")});
  EXPECT_EQ(all.usage().limits.told_twice, 1U) << "two machines have a device at the same PCI address";
}

TEST(UsageStretches, OfGpusThatWereLeftOutAreNotCounted) {
  Stretches part({gpu("GPU-a")}, true), whole({gpu("GPU-a")});
  for (auto *all : {&part, &whole})
    all->take(UsagePart::present, {series("GPU-a", {20, 20}), series("GPU-b", {20, 20})});
  EXPECT_EQ(part.usage().shares.size(), 1U);
  EXPECT_EQ(whole.usage().shares.size(), 2U) << "its name is not known, and it was there all the same";
}

TEST(UsageStretches, TakeNothingOfOtherTimes) {
  Stretches all({gpu("GPU-a")});
  EngineSeries odd{.labels = {{"instance", "n1:9837"}, {"uuid", "GPU-a"}}};
  for (const double time : {-1e300, 0.0, kFirst - 300, kFirst + 100, kFirst + 600, 1e300,
                            std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    odd.points.push_back({time, 20});
  }
  for (const auto part : kUsageParts) all.take(part, {odd});
  EXPECT_EQ(all.usage().recorded_seconds, 0);
}

}  // namespace
}  // namespace gpulse::fleet
