// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_sisters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <random>

namespace gpulse::fleet {
namespace {

using insight::RemarkId;
using insight::Weight;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::optional<double> &steady(FleetGpu &gpu, FleetSteady what) { return gpu.steady[static_cast<std::size_t>(what)]; }
std::optional<double> &reading(FleetGpu &gpu, FleetReading what) {
  return gpu.readings[static_cast<std::size_t>(what)];
}

// Busy at 1755 MHz, 600 W and 60 °C, at a link of generation 5 with 16 lanes.
FleetGpu healthy(std::size_t host) {
  FleetGpu gpu{.host = host, .id = "0", .name = "NVIDIA H100", .held = true, .is_settled = true};
  gpu.readings[static_cast<std::size_t>(FleetReading::temperature)] = 60;
  steady(gpu, FleetSteady::utilization) = 99;
  steady(gpu, FleetSteady::true_activity) = 40;
  steady(gpu, FleetSteady::power) = 600;
  steady(gpu, FleetSteady::clock) = 1755;
  steady(gpu, FleetSteady::link_generation) = 5;
  steady(gpu, FleetSteady::link_width) = 16;
  steady(gpu, FleetSteady::power_limit) = 700;
  steady(gpu, FleetSteady::clock_max) = 1980;
  return gpu;
}

// Hosts of eight; the first GPU is the one that tests change.
class Fleet : public ::testing::Test {
 protected:
  explicit Fleet(std::size_t gpus = 40) {
    for (std::size_t i = 0; i < gpus; ++i) {
      const auto host = i / 8;
      if (host == fleet_.hosts.size()) fleet_.hosts.push_back({.instance = std::to_string(host), .name = "n"});
      fleet_.gpus.push_back(healthy(host));
      fleet_.gpus.back().uuid = std::to_string(i);
    }
  }
  FleetGpu &odd() { return fleet_.gpus[0]; }
  void hold(std::size_t first, std::size_t count, const FleetOwner &owner) {
    for (std::size_t i = first; i < first + count; ++i) fleet_.gpus[i].owners = {owner};
  }
  // Those of the odd one; the others have none.
  const std::vector<FleetRemark> &remarks() {
    add_remarks(fleet_);
    for (std::size_t i = 1; i < fleet_.gpus.size(); ++i) EXPECT_THAT(fleet_.gpus[i].remarks, IsEmpty()) << i;
    return odd().remarks;
  }
  std::size_t all_remarks() {
    add_remarks(fleet_);
    std::size_t count = 0;
    for (const auto &gpu : fleet_.gpus) count += gpu.remarks.size();
    return count;
  }
  // The only one.
  FleetRemark remark() {
    const auto &all = remarks();
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? FleetRemark{} : all[0];
  }

  FleetSnapshot fleet_;
};

class Sisters : public Fleet {};

TEST_F(Sisters, ThatAreWellHaveNothingSaidOfThem) { EXPECT_EQ(all_remarks(), 0U); }

TEST_F(Sisters, TellWhichIsClockedSlower) {
  steady(odd(), FleetSteady::clock) = 1095;
  steady(odd(), FleetSteady::power) = 350;
  const auto said = remark();
  EXPECT_EQ(said.id, RemarkId::slower_clock);
  EXPECT_EQ(said.text, "slower clocked than its sisters: 1095 MHz against 1755 MHz (39 others of NVIDIA H100)");
  EXPECT_EQ(said.weight, Weight::problem) << "(1755 - 1095) / 1755 is 38 %";
  EXPECT_EQ(said.metric, device_metric("clock_graphics_mhz"));
  EXPECT_DOUBLE_EQ(said.value, 1095);
  EXPECT_DOUBLE_EQ(said.usual, 1755);
  EXPECT_EQ(said.others, 39U);
}

TEST_F(Sisters, TakeASmallDifferenceForNoneAndAMiddlingOneForANote) {
  steady(odd(), FleetSteady::clock) = 1755 * 0.905;
  EXPECT_THAT(remarks(), IsEmpty());
  steady(odd(), FleetSteady::clock) = 1755 * 0.89;
  EXPECT_EQ(remark().weight, Weight::note);
}

TEST_F(Sisters, ExcuseOneThatWorksHarder) {
  steady(odd(), FleetSteady::clock) = 1300;
  steady(odd(), FleetSteady::power) = 690;
  EXPECT_THAT(remarks(), IsEmpty()) << "the power that it draws lowers its clock";
  odd().findings = {{.id = "throttled-thermal", .weight = Weight::problem}};
  EXPECT_THAT(remark().text.str(), HasSubstr("; held back by its temperature"));
}

TEST_F(Sisters, ExcuseThoseAtTheirPowerLimit) {
  for (auto &gpu : fleet_.gpus) {
    steady(gpu, FleetSteady::power) = 680;
    steady(gpu, FleetSteady::clock) = 1980;
  }
  for (std::size_t i = 0; i < 8; ++i) {
    steady(fleet_.gpus[i], FleetSteady::power) = 700;
    steady(fleet_.gpus[i], FleetSteady::clock) = 1700;
  }
  EXPECT_EQ(all_remarks(), 0U) << "nothing draws 5 % more than 680 W where 700 W is the limit";
  steady(odd(), FleetSteady::clock) = 1400;
  EXPECT_EQ(all_remarks(), 1U) << "20 W do not explain 29 %";
  steady(odd(), FleetSteady::clock) = 1700;
  steady(odd(), FleetSteady::power) = 680;
  EXPECT_EQ(all_remarks(), 1U);
}

TEST_F(Sisters, OfWhichAThirdAreCooledOtherwiseAreMeantToBeSo) {
  for (std::size_t i = 0; i < 8; ++i) reading(fleet_.gpus[i], FleetReading::temperature) = 81;
  EXPECT_EQ(all_remarks(), 8U);
  for (std::size_t i = 8; i < 12; ++i) reading(fleet_.gpus[i], FleetReading::temperature) = 81;
  EXPECT_EQ(all_remarks(), 0U);
}

TEST_F(Sisters, OfWhichAThirdAreClockedLowerAreMeantToBeSo) {
  for (std::size_t i = 0; i < 8; ++i) steady(fleet_.gpus[i], FleetSteady::clock) = 1200;
  EXPECT_EQ(all_remarks(), 8U);
  for (std::size_t i = 8; i < 12; ++i) steady(fleet_.gpus[i], FleetSteady::clock) = 1200;
  EXPECT_EQ(all_remarks(), 0U);
}

TEST_F(Sisters, SayOfUnknownPowerOnlyWhatIsClearWithoutIt) {
  steady(odd(), FleetSteady::power).reset();
  steady(odd(), FleetSteady::clock) = 1500;
  EXPECT_THAT(remarks(), IsEmpty());
  steady(odd(), FleetSteady::clock) = 1000;
  EXPECT_EQ(remark().id, RemarkId::slower_clock);
}

TEST_F(Sisters, ThatRestAreNotCompared) {
  steady(odd(), FleetSteady::clock) = 345;
  steady(odd(), FleetSteady::power) = 70;
  steady(odd(), FleetSteady::link_generation) = 1;
  steady(odd(), FleetSteady::power_limit) = 300;
  steady(odd(), FleetSteady::utilization) = 3;
  EXPECT_THAT(remarks(), IsEmpty());
  steady(odd(), FleetSteady::utilization).reset();
  EXPECT_THAT(remarks(), IsEmpty()) << "nobody knows whether it rests";
}

TEST_F(Sisters, ThatAreNotWellOrPartedTakeNoPart) {
  steady(odd(), FleetSteady::clock) = 1095;
  for (const auto state : {GpuState::asleep, GpuState::silent, GpuState::gone, GpuState::lost}) {
    odd().state = state;
    EXPECT_THAT(remarks(), IsEmpty()) << word(state);
  }
  odd().state = GpuState::ok;
  auto instance = healthy(0);
  instance.parent = odd().uuid;
  steady(instance, FleetSteady::clock) = 500;
  fleet_.gpus.push_back(instance);
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(Sisters, AreOfOneModelAndOneCluster) {
  steady(odd(), FleetSteady::clock) = 1095;
  odd().name = "NVIDIA A100";
  EXPECT_THAT(remarks(), IsEmpty());
  odd().name = "NVIDIA H100";
  for (std::size_t i = 1; i < 5; ++i) fleet_.hosts[i].cluster = "elsewhere";
  EXPECT_EQ(remark().others, 7U) << "those of its host";
}

TEST_F(Sisters, HaveToBeFiveBesides) {
  steady(odd(), FleetSteady::clock) = 1095;
  fleet_.gpus.resize(5);
  EXPECT_THAT(remarks(), IsEmpty());
  fleet_.gpus.push_back(healthy(0));
  EXPECT_EQ(remark().others, 5U);
}

TEST_F(Sisters, OfWhichHalfAreSlowTellNothing) {
  for (std::size_t i = 0; i < 20; ++i) steady(fleet_.gpus[i], FleetSteady::clock) = 1200;
  EXPECT_EQ(all_remarks(), 0U) << "they do other work";
}

TEST_F(Sisters, TellWhichIsHotterAtTheSamePower) {
  reading(odd(), FleetReading::temperature) = 75;
  const auto said = remark();
  EXPECT_EQ(said.text, "hotter than its sisters: 75 °C against 60 °C (39 others of NVIDIA H100 at such power)");
  EXPECT_EQ(said.weight, Weight::note);
  reading(odd(), FleetReading::temperature) = 81;
  EXPECT_EQ(remark().weight, Weight::problem) << "21 degrees";
  reading(odd(), FleetReading::temperature) = 69;
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(Sisters, AtOtherPowerSayNothingAboutHeat) {
  reading(odd(), FleetReading::temperature) = 75;
  steady(odd(), FleetSteady::power) = 700;
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(Sisters, ThatScatterLeaveRoom) {
  // From 50 to 69 degrees, two of each: the median is 60, half of them are within 5 of it, and 1.4826 times that
  // is 7.4.
  for (std::size_t i = 0; i < 40; ++i) reading(fleet_.gpus[i], FleetReading::temperature) = 50 + (i % 20);
  reading(odd(), FleetReading::temperature) = 95;
  EXPECT_THAT(remarks(), IsEmpty()) << "35 degrees are less than five times 7.4";
  reading(odd(), FleetReading::temperature) = 99;
  EXPECT_THAT(remarks(), SizeIs(1));
}

TEST_F(Sisters, TellWhichIsAllowedLess) {
  steady(odd(), FleetSteady::power_limit) = 400;
  const auto said = remark();
  EXPECT_EQ(said.text, "allowed less than its sisters: 400 W against 700 W (39 others of NVIDIA H100)");
  EXPECT_EQ(said.weight, Weight::problem);
  steady(odd(), FleetSteady::power_limit) = 600;
  EXPECT_EQ(remark().weight, Weight::note);
  steady(odd(), FleetSteady::power_limit) = 700;
  steady(odd(), FleetSteady::clock_max) = 1410;
  EXPECT_THAT(remark().text.str(), HasSubstr("a clock of 1410 MHz against 1980 MHz"));
}

TEST_F(Sisters, OfWhichAThirdAreAllowedLessAreMeantToBeSo) {
  for (std::size_t i = 0; i < 10; ++i) steady(fleet_.gpus[i], FleetSteady::power_limit) = 500;
  EXPECT_EQ(all_remarks(), 10U);
  for (std::size_t i = 10; i < 14; ++i) steady(fleet_.gpus[i], FleetSteady::power_limit) = 500;
  EXPECT_EQ(all_remarks(), 0U);
}

TEST_F(Sisters, TellWhichHasASlowerLink) {
  steady(odd(), FleetSteady::link_generation) = 1;
  const auto said = remark();
  EXPECT_EQ(said.text,
            "slower PCIe link than its sisters: generation 1 x16 against generation 5 x16 (39 others of NVIDIA H100)");
  EXPECT_EQ(said.weight, Weight::problem);
  EXPECT_DOUBLE_EQ(said.usual, 5);
  steady(odd(), FleetSteady::link_generation) = 5;
  steady(odd(), FleetSteady::link_width) = 8;
  odd().findings = {{.id = "link-degraded", .weight = Weight::note}};
  EXPECT_THAT(remark().text.str(),
              AllOf(HasSubstr("generation 5 x8"), HasSubstr("; the PCIe link is slower than it could be")));
  EXPECT_EQ(remark().weight, Weight::note);
  EXPECT_EQ(remark().metric, device_metric("pcie_link_width"));
}

TEST_F(Sisters, TakeNoLinkThatCannotBe) {
  for (const double width : {0.0, -1.0, 1e18}) {
    steady(odd(), FleetSteady::link_width) = width;
    EXPECT_THAT(remarks(), IsEmpty());
  }
}

class Job : public Fleet {
 protected:
  // 32 GPUs on four hosts, which wait for the odd one.
  Job() {
    hold(0, 32, {.user = "ann", .job = "12"});
    steady(odd(), FleetSteady::true_activity) = 95;
  }
};

TEST_F(Job, WaitsForAGpuWhoseClockIsLow) {
  steady(odd(), FleetSteady::clock) = 1095;
  const auto all = remarks();
  ASSERT_THAT(all, SizeIs(2)) << "a slow card too";
  EXPECT_EQ(all[1].id, RemarkId::job_straggler);
  EXPECT_EQ(all[1].weight, Weight::problem);
  EXPECT_EQ(all[1].text,
            "holds its job back: truly used 95 % against 40 % (31 others of job 12); its clock is 1095 MHz against "
            "1755 MHz");
}

TEST_F(Job, WaitsForTheOnlyOneThatIsFarBusier) {
  EXPECT_EQ(remark().id, RemarkId::job_straggler) << "55 points";
  steady(odd(), FleetSteady::true_activity) = 70;
  EXPECT_EQ(remark().id, RemarkId::job_differs) << "30 points, and nothing says why";
  EXPECT_EQ(remark().weight, Weight::note);
  steady(odd(), FleetSteady::true_activity) = 64;
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(Job, DoesNotWaitForOneThatHasLessToDo) {
  for (std::size_t i = 1; i < 32; ++i) steady(fleet_.gpus[i], FleetSteady::true_activity) = 90;
  steady(odd(), FleetSteady::true_activity) = 20;
  steady(odd(), FleetSteady::utilization) = 30;
  steady(odd(), FleetSteady::clock) = 345;
  EXPECT_EQ(remark().id, RemarkId::job_differs) << "its clock is low because it rests";
  EXPECT_EQ(remark().text, "differs from the rest of its job: truly used 20 % against 90 % (31 others of job 12)");
  odd().findings = {{.id = "throttled-hardware", .weight = Weight::problem}};
  EXPECT_EQ(remark().id, RemarkId::job_straggler);
}

TEST_F(Job, DoesNotWaitForStagesThatWorkHarderAtALowerClock) {
  for (std::size_t i = 0; i < 32; ++i) {
    const bool is_stage = i < 8;
    steady(fleet_.gpus[i], FleetSteady::true_activity) = is_stage ? 80 : 40;
    steady(fleet_.gpus[i], FleetSteady::power) = is_stage ? 690 : 450;
    steady(fleet_.gpus[i], FleetSteady::clock) = is_stage ? 1560 : 1755;
  }
  fleet_.gpus.resize(32);
  add_remarks(fleet_);
  for (std::size_t i = 0; i < 8; ++i) {
    for (const auto &said : fleet_.gpus[i].remarks) EXPECT_NE(said.weight, Weight::problem) << said.text;
  }
  odd().findings = {{.id = "throttled-thermal", .weight = Weight::problem}};
  add_remarks(fleet_);
  ASSERT_FALSE(odd().remarks.empty());
  EXPECT_THAT(odd().remarks.back().text.str(), HasSubstr("its clock is 1560 MHz against 1755 MHz; held back by"));
}

TEST_F(Job, DoesNotWaitForALinkThatSleeps) {
  for (std::size_t i = 1; i < 32; ++i) steady(fleet_.gpus[i], FleetSteady::true_activity) = 60;
  steady(odd(), FleetSteady::true_activity) = 0;
  steady(odd(), FleetSteady::utilization) = 0;
  steady(odd(), FleetSteady::link_generation) = 1;
  EXPECT_EQ(remark().id, RemarkId::job_differs) << "it does nothing";
  steady(odd(), FleetSteady::utilization) = 20;
  add_remarks(fleet_);
  EXPECT_THAT(odd().remarks.back().text.str(), HasSubstr("its PCIe link is only generation 1 x16"));
}

TEST_F(Job, OfOneHostIsToldByItsAgent) {
  hold(8, 24, {});
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(Job, ThatHasJustBegunIsNotJudged) {
  for (auto &gpu : fleet_.gpus) gpu.is_settled = false;
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(Job, OnASharedGpuCannotBeToldApart) {
  odd().owners.push_back({.user = "bob", .job = "13"});
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST_F(Job, WithStagesIsMeantToBeSo) {
  // Nine of 32 are more than a quarter.
  for (std::size_t i = 0; i < 9; ++i) steady(fleet_.gpus[i], FleetSteady::true_activity) = 75;
  EXPECT_EQ(all_remarks(), 0U);
  steady(fleet_.gpus[8], FleetSteady::true_activity) = 40;
  EXPECT_EQ(all_remarks(), 8U);
}

TEST_F(Job, IsJudgedByPowerWhereNobodyKnowsItsActivity) {
  for (auto &gpu : fleet_.gpus) steady(gpu, FleetSteady::true_activity).reset();
  for (std::size_t i = 1; i < 32; ++i) steady(fleet_.gpus[i], FleetSteady::power) = 250;
  odd().errors = {79};
  EXPECT_EQ(remark().text, "holds its job back: draws 600 W against 250 W (31 others of job 12); XID 79");
  odd().errors = {31};
  EXPECT_EQ(remark().id, RemarkId::job_differs) << "31 is the program's own fault";
}

TEST_F(Job, OfPodsIsOneWhereTheyAreNumbered) {
  for (std::size_t i = 0; i < 32; ++i) fleet_.gpus[i].owners = {{.pod = fmt::format("lab/train-{}", i / 8)}};
  EXPECT_THAT(remarks(), IsEmpty()) << "servers may be numbered too";
  odd().findings = {{.id = "throttled-thermal", .weight = Weight::problem}};
  EXPECT_THAT(remark().text.str(), HasSubstr("(31 others of pods lab/train-*); held back by its temperature"));
  for (std::size_t i = 0; i < 32; ++i) fleet_.gpus[i].owners = {{.pod = fmt::format("lab/web-x{}y", i)}};
  EXPECT_THAT(remarks(), IsEmpty());
}

TEST(ManySisters, OfOneJobAreComparedInAMoment) {
  FleetSnapshot fleet;
  for (std::size_t i = 0; i < 8000; ++i) {
    if (i % 8 == 0) fleet.hosts.push_back({.instance = std::to_string(i), .name = "n"});
    fleet.gpus.push_back(healthy(i / 8));
    fleet.gpus.back().uuid = std::to_string(i);
    fleet.gpus.back().owners = {{.job = "1"}};
    if (i < 3600) steady(fleet.gpus.back(), FleetSteady::true_activity) = 90;
  }
  const auto begun = monotonic_now();
  add_remarks(fleet);
  EXPECT_LT(monotonic_now() - begun, std::chrono::seconds(2));
}

TEST(ManySisters, OfWhomNothingIsToBeSaidHaveNothingSaidOfThem) {
  // A thousand hosts of two models, with noise, half of them at rest, jobs of 32.
  std::mt19937 random(7);
  std::normal_distribution<double> noise;
  FleetSnapshot fleet;
  for (std::size_t host = 0; host < 1250; ++host) {
    fleet.hosts.push_back({.instance = std::to_string(host), .name = "n"});
    for (std::size_t i = 0; i < 8; ++i) {
      auto gpu = healthy(host);
      const bool is_old = host % 3 == 0, rests = (host / 8) % 2 == 1;
      gpu.uuid = std::to_string(host * 8 + i);
      if (is_old) gpu.name = "NVIDIA A100";
      gpu.owners = {{.user = "ann", .job = std::to_string(host / 4)}};
      steady(gpu, FleetSteady::utilization) = rests ? 2 : 95;
      steady(gpu, FleetSteady::true_activity) = rests ? 0.5 : 60 + 4 * noise(random);
      steady(gpu, FleetSteady::power) = rests ? 70 : (is_old ? 380 : 600) + 25 * noise(random);
      steady(gpu, FleetSteady::clock) = rests ? 345 : (is_old ? 1350 : 1755) + 30 * noise(random);
      reading(gpu, FleetReading::temperature) = (rests ? 30 : 62) + 4 * noise(random);
      steady(gpu, FleetSteady::link_generation) = rests ? 1 : is_old ? 4 : 5;
      steady(gpu, FleetSteady::power_limit) = is_old ? 400 : 700;
      fleet.gpus.push_back(std::move(gpu));
    }
  }
  add_remarks(fleet);
  for (const auto &gpu : fleet.gpus) EXPECT_THAT(gpu.remarks, IsEmpty());
}

}  // namespace
}  // namespace gpulse::fleet
