// SPDX-License-Identifier: Apache-2.0
#include "pick/pick.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/temporary_folder.hpp"
#include "pick/testing.hpp"

namespace gpulse::pick {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

// Hands out samples one after the other; the last again and again.
class ScriptedFeed final : public feed::Feed {
 public:
  void add(std::vector<Device> devices) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->devices = std::move(devices);
    samples_.push_back(std::move(snapshot));
  }
  bool is_live() const override { return true; }
  Result<SnapshotPtr> once(const std::stop_token &stop) override { return again(stop); }
  Result<SnapshotPtr> again(const std::stop_token &stop) override {
    if (stop.stop_requested()) return SnapshotPtr();
    return samples_[std::min(looks_++, samples_.size() - 1)];
  }
  Result<SnapshotPtr> next(const std::stop_token &stop) override { return again(stop); }
  std::size_t looks() const { return looks_; }

 private:
  std::vector<SnapshotPtr> samples_;
  std::size_t looks_ = 0;
};

std::vector<Device> machine(const std::vector<double> &use) {
  std::vector<Device> devices;
  for (std::uint32_t i = 0; i < use.size(); ++i) {
    devices.push_back(make_device(i, "GPU-" + std::to_string(i)));
    devices.back().row[device_metric("gpu_utilization_percent")] = use[i];
  }
  return devices;
}

class PickTest : public testing::Test {
 protected:
  Options with(const Request &request, std::map<std::string, std::string> variables = {}) {
    Options options{.request = request, .environment = environment_of(std::move(variables))};
    options.place = LeasePlace{folder_.path("/leases"), true};
    return options;
  }

  TemporaryFolder folder_;
  ScriptedFeed feed_;
};

TEST_F(PickTest, TwoOfFourAndThenTheOtherTwo) {
  feed_.add(machine({0, 0, 0, 0}));
  const auto first = pick(feed_, with({.count = 2}));
  ASSERT_TRUE(first);
  EXPECT_THAT(first->variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "GPU-0,GPU-1")));
  EXPECT_THAT(first->leases, SizeIs(2));
  const auto second = pick(feed_, with({.count = 2}));
  ASSERT_TRUE(second);
  EXPECT_THAT(second->variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "GPU-2,GPU-3")));
  const auto third = pick(feed_, with({.count = 1}));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().why, Why::none_free);
  ASSERT_THAT(third.error().refused, SizeIs(4));
  EXPECT_THAT(third.error().refused[0].reason, HasSubstr("held by pid"));
}

TEST_F(PickTest, WhatBecameBusyBeforeTheLockIsGivenBack) {
  feed_.add(machine({0, 0, 0}));
  feed_.add(machine({90, 0, 0}));
  const auto picked = pick(feed_, with({}));
  ASSERT_TRUE(picked);
  EXPECT_THAT(picked->variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "GPU-1")));
  feed_.add(machine({0, 0, 0}));
  const auto again = pick(feed_, with({}));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->devices.front().identity->uuid, "GPU-0");
}

TEST_F(PickTest, TheMaskIsNeverLeftAndItsOrderIsKept) {
  feed_.add(machine({0, 0, 0, 0}));
  const auto picked = pick(feed_, with({.count = 2}, {{"CUDA_VISIBLE_DEVICES", "3,1"}}));
  ASSERT_TRUE(picked);
  EXPECT_THAT(picked->variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "GPU-3,GPU-1")));
  const auto more = pick(feed_, with({.count = 3}, {{"CUDA_VISIBLE_DEVICES", "0,2"}}));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().why, Why::too_few);
  EXPECT_EQ(pick(feed_, with({}, {{"CUDA_VISIBLE_DEVICES", ""}})).error().why, Why::hidden);
}

TEST_F(PickTest, AMaskByNumbersThatMayMeanOtherGpusIsRefused) {
  auto devices = machine({0, 0});
  auto identity = std::make_shared<DeviceIdentity>(*devices[1].identity);
  identity->name = "NVIDIA T400";
  devices[1].identity = identity;
  feed_.add(devices);
  const auto refused = pick(feed_, with({}, {{"CUDA_VISIBLE_DEVICES", "1"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().why, Why::hidden);
  EXPECT_THAT(refused.error().error.line(), HasSubstr("PCI_BUS_ID"));
  int asked = 0;
  auto options = with({}, {{"CUDA_VISIBLE_DEVICES", "1"}});
  options.cuda_order = [&]() -> Result<std::vector<std::string>> {
    ++asked;
    return std::vector<std::string>{"GPU-1", "GPU-0"};
  };
  const auto picked = pick(feed_, options);
  ASSERT_TRUE(picked);
  EXPECT_EQ(picked->devices.front().identity->uuid, "GPU-0");
  EXPECT_EQ(asked, 1);
}

TEST_F(PickTest, WaitsUntilOneIsFreeAndSaysWhatItWaitsFor) {
  feed_.add(machine({90}));
  feed_.add(machine({90}));
  feed_.add(machine({0}));
  auto options = with({});
  options.wait = 10s;
  std::vector<std::string> words;
  options.progress = [&](const Progress &now) { words.push_back(now.refused.at(0).reason); };
  EXPECT_TRUE(pick(feed_, options));
  EXPECT_THAT(words, ElementsAre("90 % busy, at most 10 % asked for", "90 % busy, at most 10 % asked for"));
}

TEST_F(PickTest, WaitsNoLongerThanItMay) {
  feed_.add(machine({90}));
  auto options = with({});
  options.wait = 150ms;
  const auto begun = monotonic_now();
  const auto picked = pick(feed_, options);
  ASSERT_FALSE(picked);
  EXPECT_EQ(picked.error().why, Why::none_free);
  EXPECT_GE(monotonic_now() - begun, 150ms);
  EXPECT_LT(monotonic_now() - begun, 5s);
  EXPECT_GE(feed_.looks(), 2U);
}

TEST_F(PickTest, AStopEndsTheWaitAtOnce) {
  feed_.add(machine({90}));
  std::stop_source stop;
  auto options = with({});
  options.wait = 1h;
  options.stop = stop.get_token();
  options.progress = [&](const Progress &) { stop.request_stop(); };
  const auto begun = monotonic_now();
  EXPECT_EQ(pick(feed_, options).error().why, Why::stopped);
  EXPECT_LT(monotonic_now() - begun, 5s);
}

TEST_F(PickTest, NoDeviceIsNoMatterOfWaiting) {
  feed_.add({});
  auto options = with({});
  options.wait = 1h;
  EXPECT_EQ(pick(feed_, options).error().why, Why::no_device);
}

TEST_F(PickTest, EveryInstanceIsToBeHad) {
  auto whole = make_device(0, "GPU-0");
  whole.row[device_metric("mig_mode")] = 1;
  feed_.add({whole, make_instance(whole, 0, "MIG-a", 1, 0), make_instance(whole, 1, "MIG-b", 2, 0)});
  const auto first = pick(feed_, with({}));
  const auto second = pick(feed_, with({}));
  ASSERT_TRUE(first && second);
  EXPECT_THAT(first->variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "MIG-a")));
  EXPECT_THAT(second->variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "MIG-b")));
  EXPECT_FALSE(pick(feed_, with({})));
}

TEST(VariablesFor, EachVendorInItsOwnWords) {
  const std::vector devices{make_device(0, "GPU-1000aaaa1111bbbb", "amd"), make_device(1, "PCI-0000:03:00.0", "amd"),
                            make_device(2, "PCI-0", "intel", "Intel Arc A770"),
                            make_device(3, "PCI-1", "intel", "Intel Arc B580")};
  EXPECT_THAT(variables_for(devices, std::vector<std::size_t>{1, 0}),
              ElementsAre(Pair("ROCR_VISIBLE_DEVICES", "1,GPU-1000aaaa1111bbbb"), Pair("HIP_VISIBLE_DEVICES", "0,1")));
  EXPECT_THAT(variables_for(devices, std::vector<std::size_t>{3}), ElementsAre(Pair("ZE_AFFINITY_MASK", "1")));
}

TEST(VariablesFor, NothingThatAShellWouldActOn) {
  const std::vector devices{make_device(0, "GPU-$(reboot)"), make_device(1, "GPU-1")};
  EXPECT_THAT(variables_for(devices, std::vector<std::size_t>{0, 1}),
              ElementsAre(Pair("CUDA_DEVICE_ORDER", "PCI_BUS_ID"), Pair("CUDA_VISIBLE_DEVICES", "0,1")));
}

}  // namespace
}  // namespace gpulse::pick
