// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "fleet/fleet_groups.hpp"
#include "fleet/fleet_json_parts.hpp"
#include "fleet/fleet_page.hpp"
#include "fleet/fleet_text.hpp"
#include "fleet/foreign.hpp"
#include "fleet/host_samples.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr double kNow = 1'700'000'000;
const WallTime kAt{std::chrono::seconds(1'700'000'000)};

EngineSeries one(std::vector<Label> labels, double value) {
  return {.labels = std::move(labels), .points = {{kNow, value}}};
}
EngineSeries of_gpu(const char *instance, const char *uuid, double value, std::vector<Label> more = {}) {
  more.insert(more.end(), {{"instance", instance}, {"uuid", uuid}});
  return one(std::move(more), value);
}
EngineSeries info(const char *instance, const char *uuid, const char *gpu, std::vector<Label> more = {}) {
  more.insert(more.end(), {{"gpu", gpu}, {"vendor", "nvidia"}, {"name", "H100"}});
  return of_gpu(instance, uuid, 1, std::move(more));
}
EngineSeries state(const char *instance, const char *uuid, const char *word) {
  return of_gpu(instance, uuid, 1, {{"state", word}});
}
EngineSeries alive(const char *instance, double ago) { return one({{"instance", instance}}, kNow - ago); }

// The answers of an engine, by what was asked.
class Fleet : public ::testing::Test {
 protected:
  std::vector<EngineSeries> &at(FleetPart part) { return parts_[static_cast<std::size_t>(part)]; }
  void lose(FleetPart part) { lost_[static_cast<std::size_t>(part)] = true; }

  FleetSnapshot make(std::span<const ForeignAnswers> foreign = {}) {
    FleetAnswers answers{.infos = infos_, .parts = {}, .last_alive = last_alive_, .knows_silent = knows_silent_};
    for (std::size_t i = 0; i < kFleetParts; ++i) answers.parts[i] = lost_[i] ? nullptr : &parts_[i];
    return make_fleet(answers, foreign, kAt, Seconds(15));
  }

  std::vector<EngineSeries> infos_{info("n1:9837", "GPU-a", "0"), info("n1:9837", "GPU-b", "1"),
                                   info("n2:9837", "GPU-c", "0")};
  std::array<std::vector<EngineSeries>, kFleetParts> parts_{};
  std::array<bool, kFleetParts> lost_{};
  std::vector<EngineSeries> last_alive_{};
  bool knows_silent_ = false;
};

class TwoHosts : public Fleet {
 protected:
  TwoHosts() {
    at(FleetPart::alive) = {alive("n1:9837", 31), alive("n2:9837", 33)};
    at(FleetPart::state) = {state("n1:9837", "GPU-a", "ok"), state("n1:9837", "GPU-b", "ok"),
                            state("n2:9837", "GPU-c", "ok")};
    at(FleetPart::processes) = {of_gpu("n1:9837", "GPU-a", 3), of_gpu("n1:9837", "GPU-b", 0),
                                of_gpu("n2:9837", "GPU-c", 0)};
  }
};

TEST_F(TwoHosts, HaveTheirReadingsInTheUnitsOfTheTable) {
  at(FleetPart::utilization) = {of_gpu("n1:9837", "GPU-a", 0.85), of_gpu("n2:9837", "GPU-c", 0.25)};
  at(FleetPart::power) = {of_gpu("n1:9837", "GPU-b", 310)};
  const auto fleet = make();
  ASSERT_THAT(fleet.gpus, SizeIs(3));
  EXPECT_EQ(fleet.hosts[0].name, "n1");
  EXPECT_DOUBLE_EQ(fleet.gpus[0][FleetReading::utilization].value(), 85);
  EXPECT_DOUBLE_EQ(fleet.gpus[1][FleetReading::power].value(), 310);
  EXPECT_FALSE(fleet.gpus[1][FleetReading::utilization]) << "what is not known is no 0";
  EXPECT_DOUBLE_EQ(fleet.gpus[2][FleetReading::utilization].value(), 25);
  EXPECT_THAT(std::string(why_unknown(fleet, fleet.gpus[1], FleetReading::utilization)), HasSubstr("no such series"));
}

TEST_F(TwoHosts, TakeNoNumberThatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  at(FleetPart::utilization) = {of_gpu("n1:9837", "GPU-a", nan), of_gpu("n1:9837", "GPU-b", infinite),
                                of_gpu("n2:9837", "GPU-c", -3)};
  for (const auto &gpu : make().gpus) EXPECT_FALSE(gpu[FleetReading::utilization]);
}

TEST_F(TwoHosts, AreNotSilentWhileTheEngineIsLateForAll) {
  for (const auto &host : make().hosts) EXPECT_FALSE(host.silent_for);
}

TEST_F(TwoHosts, AreSilentSinceTheirOwnLastSample) {
  at(FleetPart::alive) = {alive("n1:9837", 31)};
  last_alive_ = {alive("n2:9837", 31 + 240)};
  at(FleetPart::utilization) = {of_gpu("n2:9837", "GPU-c", 0.5)};
  at(FleetPart::owners) = {of_gpu("n2:9837", "GPU-c", 1, {{"user", "ann"}})};
  const auto fleet = make();
  EXPECT_FALSE(fleet.hosts[0].silent_for);
  ASSERT_TRUE(fleet.hosts[1].silent_for);
  EXPECT_DOUBLE_EQ(fleet.hosts[1].silent_for->count(), 240) << "the 31 seconds are the engine's";
  const auto &gpu = fleet.gpus[2];
  EXPECT_EQ(gpu.state, GpuState::silent);
  EXPECT_FALSE(gpu[FleetReading::utilization]) << "an engine goes on with the last value for minutes";
  EXPECT_FALSE(gpu.held);
  EXPECT_EQ(why_unknown(fleet, gpu, FleetReading::power), "silent");
}

TEST_F(TwoHosts, AreSilentAtOnceWhereTheEngineHasNothingOfThemAnyMore) {
  // Prometheus could not scrape it twenty seconds ago, and ended all its series.
  at(FleetPart::alive) = {alive("n1:9837", 2)};
  last_alive_ = {alive("n2:9837", 20)};
  std::erase_if(at(FleetPart::state), [](const EngineSeries &series) { return series.label("instance") == "n2:9837"; });
  const auto fleet = make();
  ASSERT_THAT(fleet.hosts, SizeIs(2));
  EXPECT_FALSE(fleet.hosts[0].silent_for);
  ASSERT_TRUE(fleet.hosts[1].silent_for);
  EXPECT_NEAR(fleet.hosts[1].silent_for->count(), 18, 0.01);
  EXPECT_EQ(fleet.gpus[2].state, GpuState::silent) << "not gone: nobody says so";
}

TEST_F(TwoHosts, MayBeSilentSinceNobodyKnowsWhen) {
  at(FleetPart::alive) = {alive("n1:9837", 31)};
  at(FleetPart::state) = {state("n1:9837", "GPU-a", "ok"), state("n1:9837", "GPU-b", "ok")};
  const auto fleet = make();
  const auto &host = fleet.hosts[1];
  ASSERT_TRUE(host.silent_for);
  EXPECT_TRUE(host.is_since_unknown);
  EXPECT_FALSE(fleet.hosts[0].is_since_unknown);
  EXPECT_EQ(silent_words(host), "silent, not known since when");
  const auto view = make_fleet_view(fleet, {});
  EXPECT_EQ(view.groups[0].worst, "silent, not known since when");
  EXPECT_THAT(fleet_json(fleet, view), HasSubstr(R"("last_sample":null,"silent":true,"silent_seconds":null})"));
  EXPECT_THAT(fleet_json(fleet, view), HasSubstr(R"("silent":false,"silent_seconds":null})"));
}

TEST_F(TwoHosts, AreAllSilentWhereNothingComesAnyMore) {
  at(FleetPart::alive) = {alive("n1:9837", 600), alive("n2:9837", 600)};
  for (const auto &host : make().hosts) {
    ASSERT_TRUE(host.silent_for);
    EXPECT_DOUBLE_EQ(host.silent_for->count(), 510) << "no engine is later than 90 seconds";
  }
}

TEST_F(TwoHosts, AreNotJudgedByTheClockOfOneThatIsAhead) {
  at(FleetPart::alive) = {alive("n1:9837", -7200), alive("n2:9837", 20)};
  for (const auto &host : make().hosts) EXPECT_FALSE(host.silent_for);
}

TEST_F(TwoHosts, AreNotSilentWhereTheEngineDidNotSay) {
  at(FleetPart::alive).clear();
  lose(FleetPart::alive);
  for (const auto &host : make().hosts) EXPECT_FALSE(host.silent_for);
  EXPECT_THAT(missing_hosts({.infos = infos_}), SizeIs(0));
}

TEST_F(TwoHosts, AreNotThereBeforeTheyCame) {
  infos_.push_back(info("later", "GPU-l", "0"));
  EXPECT_THAT(make().hosts, SizeIs(3)) << "silent, for nobody said otherwise";
  knows_silent_ = true;
  EXPECT_THAT(make().hosts, SizeIs(2));
}

TEST_F(TwoHosts, MayBeOfAVersionThatTellsNoMoments) {
  at(FleetPart::alive) = {alive("n1:9837", 31)};
  knows_silent_ = true;
  const auto fleet = make();
  ASSERT_THAT(fleet.hosts, SizeIs(2));
  EXPECT_FALSE(fleet.hosts[1].silent_for) << "its GPUs have a state";
}

TEST_F(TwoHosts, SayWhichAreLostAsleepAndGone) {
  at(FleetPart::state) = {state("n1:9837", "GPU-a", "lost"), state("n2:9837", "GPU-c", "asleep")};
  at(FleetPart::utilization) = {of_gpu("n1:9837", "GPU-a", 0.5)};
  const auto fleet = make();
  EXPECT_EQ(fleet.gpus[0].state, GpuState::lost);
  EXPECT_FALSE(fleet.gpus[0][FleetReading::utilization]);
  EXPECT_EQ(fleet.gpus[1].state, GpuState::gone);
  EXPECT_EQ(fleet.gpus[2].state, GpuState::asleep);
}

TEST_F(TwoHosts, AreNotGoneWhereAnotherVersionTellsNoStates) {
  at(FleetPart::state) = {state("n1:9837", "GPU-a", "ok")};
  at(FleetPart::power) = {of_gpu("n2:9837", "GPU-c", 200)};
  const auto fleet = make();
  EXPECT_EQ(fleet.gpus[1].state, GpuState::gone);
  EXPECT_EQ(fleet.gpus[2].state, GpuState::ok);
  lose(FleetPart::state);
  for (const auto &gpu : make().gpus) EXPECT_EQ(gpu.state, GpuState::ok) << "the engine did not say";
}

TEST_F(TwoHosts, ForgetAGpuThatAnotherHasReplaced) {
  infos_.push_back(info("n2:9837", "GPU-old", "0"));
  infos_.push_back(info("n2:9837", "MIG-old", "0:1", {{"parent", "GPU-c"}}));
  EXPECT_THAT(make().gpus, SizeIs(3));
}

TEST_F(TwoHosts, SayWhoHoldsThem) {
  at(FleetPart::owners) = {of_gpu("n1:9837", "GPU-a", 1, {{"user", "ann"}, {"batch_job", "7"}}),
                           of_gpu("n1:9837", "GPU-a", 1, {{"user", "ann"}, {"batch_job", "7"}}),
                           of_gpu("n1:9837", "GPU-a", 1, {{"gpu_pod", "web-0"}, {"gpu_namespace", "shop"}})};
  at(FleetPart::idle) = {of_gpu("n1:9837", "GPU-a", 0.01), of_gpu("n1:9837", "GPU-b", 0)};
  const auto fleet = make();
  EXPECT_THAT(fleet.gpus[0].owners,
              ElementsAre(FleetOwner{.user = "ann", .job = "7"}, FleetOwner{.pod = "shop/web-0"}));
  EXPECT_TRUE(fleet.gpus[0].idle);
  EXPECT_EQ(fleet.gpus[1].held, false);
  EXPECT_FALSE(fleet.gpus[1].idle) << "nobody holds it";
}

TEST_F(TwoHosts, AreNotFreeWhereTheirProcessesCouldNotBeListed) {
  at(FleetPart::processes) = {of_gpu("n1:9837", "GPU-b", 0)};
  at(FleetPart::owners) = {of_gpu("n1:9837", "GPU-a", 1, {{"user", "ann"}})};
  const auto fleet = make();
  EXPECT_EQ(fleet.gpus[0].held, true) << "somebody is known all the same";
  EXPECT_EQ(fleet.gpus[1].held, false);
  EXPECT_FALSE(fleet.gpus[2].held);
  EXPECT_THAT(fleet_json(fleet, make_fleet_view(fleet, {})), HasSubstr(R"("held":null,"held_but_idle":null)"));
}

TEST_F(TwoHosts, SayThatItIsNotKnownWhetherAHeldOneIsIdle) {
  at(FleetPart::owners) = {of_gpu("n1:9837", "GPU-a", 1, {{"user", "ann"}})};
  lose(FleetPart::idle);
  const auto fleet = make();
  const auto view = make_fleet_view(fleet, {});
  EXPECT_THAT(fleet_json(fleet, view), HasSubstr(R"("held":true,"held_but_idle":null)"));
  EXPECT_THAT(fleet_page_json(fleet, view, {}), HasSubstr(R"("idle":[null,false,false])"));
}

TEST_F(TwoHosts, HaveTheNumbersOfNowAndNotOfBeforeARestart) {
  // GPU 1 of four has fallen away: the driver has moved up the others.
  infos_ = {info("n1:9837", "GPU-a", "0", {{"pci", "0000:01:00.0"}}),
            info("n1:9837", "GPU-b", "1", {{"pci", "0000:02:00.0"}}),
            info("n1:9837", "GPU-c", "2", {{"pci", "0000:03:00.0"}}),
            info("n1:9837", "GPU-d", "3", {{"pci", "0000:04:00.0"}})};
  const auto now = [](const char *uuid, const char *number) {
    return of_gpu("n1:9837", uuid, 1, {{"state", "ok"}, {"gpu", number}});
  };
  at(FleetPart::state) = {now("GPU-a", "0"), now("GPU-c", "1"), now("GPU-d", "2")};
  const auto fleet = make();
  ASSERT_THAT(fleet.gpus, SizeIs(4));
  std::map<std::string, std::pair<std::string, GpuState>> known;
  for (const auto &gpu : fleet.gpus) known[gpu.uuid] = {gpu.id.str(), gpu.state};
  EXPECT_EQ(known["GPU-c"], std::pair(std::string("1"), GpuState::ok));
  EXPECT_EQ(known["GPU-d"], std::pair(std::string("2"), GpuState::ok));
  EXPECT_EQ(known["GPU-b"].second, GpuState::gone) << "its number is another's, its slot is not";
}

TEST_F(TwoHosts, AreSilentSinceNobodyKnowsWhenByAClockThatIsAhead) {
  at(FleetPart::alive) = {alive("n1:9837", 31)};
  last_alive_ = {alive("n2:9837", -1200)};
  at(FleetPart::state).pop_back();
  const auto fleet = make();
  ASSERT_TRUE(fleet.hosts[1].silent_for);
  EXPECT_TRUE(fleet.hosts[1].is_since_unknown);
}

TEST_F(TwoHosts, MayHaveClocksThatAreWrong) {
  // By the engine's clock both were heard of two seconds ago; the first is 3 h slow, the second an hour fast.
  at(FleetPart::alive) = {alive("n1:9837", 10802), alive("n2:9837", -3600)};
  at(FleetPart::told) = {alive("n1:9837", 2), alive("n2:9837", 2)};
  at(FleetPart::going) = {alive("n1:9837", 10802), alive("n2:9837", -3600)};
  auto fleet = make();
  EXPECT_FALSE(fleet.hosts[0].silent_for);
  EXPECT_FALSE(fleet.hosts[1].silent_for);
  ASSERT_THAT(fleet.faults, SizeIs(1));
  EXPECT_EQ(fleet.faults[0].what, "clocks");
  EXPECT_EQ(fleet.faults[0].why, "that of n1 is 3 h slow, and 1 more");

  // No new sample comes of the first, though it is scraped; of the second the engine has not heard for four minutes.
  at(FleetPart::going).clear();
  at(FleetPart::told) = {alive("n1:9837", 2), alive("n2:9837", 240)};
  fleet = make();
  EXPECT_NEAR(fleet.hosts[0].silent_for.value_or(0s).count(), 10802, 91);
  EXPECT_NEAR(fleet.hosts[1].silent_for.value_or(0s).count(), 240, 91);
  EXPECT_FALSE(fleet.hosts[1].is_since_unknown);
}

TEST_F(TwoHosts, TellJobsOfTwoClustersApart) {
  const auto in = [](const char *cluster, EngineSeries series) {
    series.labels.emplace_back("cluster", cluster);
    return series;
  };
  infos_ = {in("east", info("n1:9837", "GPU-a", "0")), in("west", info("n2:9837", "GPU-c", "0"))};
  at(FleetPart::alive) = {in("east", alive("n1:9837", 31)), in("west", alive("n2:9837", 31))};
  at(FleetPart::state) = {in("east", state("n1:9837", "GPU-a", "ok")), in("west", state("n2:9837", "GPU-c", "ok"))};
  at(FleetPart::owners) = {in("east", of_gpu("n1:9837", "GPU-a", 1, {{"user", "ann"}, {"batch_job", "1234"}})),
                           in("west", of_gpu("n2:9837", "GPU-c", 1, {{"user", "bob"}, {"batch_job", "1234"}})),
                           in("west", of_gpu("n2:9837", "GPU-c", 1, {{"user", "bob"}, {"batch_job", "7"}}))};
  const auto fleet = make();
  const auto view = make_fleet_view(fleet, {.by = FleetBy::job, .sort = FleetSort::name});
  std::vector<std::string> names;
  for (const auto &group : view.groups) names.push_back(group.name);
  EXPECT_THAT(names, ElementsAre("7", "east/1234", "west/1234"));
  const auto count = [&](const char *job) { return make_fleet_view(fleet, {.filters = {{"job", job}}}).gpus.size(); };
  EXPECT_EQ(count("east/1234"), 1U);
  EXPECT_EQ(count("1234"), 2U);
}

TEST_F(TwoHosts, SayWhatIsNotKnownOfThem) {
  const auto amounts = [](const FleetSnapshot &fleet) {
    std::map<std::string_view, std::optional<double>> all;
    for (const auto &[name, value] : amounts_of(make_fleet_view(fleet, {}).totals)) all[name] = value;
    return all;
  };
  const auto text = [](const FleetSnapshot &fleet) { return render_fleet(fleet, make_fleet_view(fleet, {}), {}); };
  EXPECT_THAT(text(make()), HasSubstr("nothing is wrong\n"));
  auto known = amounts(make());
  EXPECT_EQ(known["with_problems"], 0);
  EXPECT_EQ(known["findings_known"], 3);
  EXPECT_EQ(known["state_known"], 3);
  lose(FleetPart::findings);
  known = amounts(make());
  EXPECT_EQ(known["with_problems"], std::nullopt);
  EXPECT_EQ(known["with_notes"], std::nullopt);
  EXPECT_EQ(known["with_driver_errors"], 0);
  EXPECT_THAT(text(make()), HasSubstr("nobody tells whether anything is wrong"));
  lose(FleetPart::errors);
  lose(FleetPart::idle);
  EXPECT_EQ(amounts(make())["with_driver_errors"], std::nullopt);
  EXPECT_EQ(amounts(make())["held_but_idle"], std::nullopt);
  at(FleetPart::state).pop_back();
  at(FleetPart::power) = {of_gpu("n2:9837", "GPU-c", 200)};
  EXPECT_EQ(amounts(make())["state_known"], 2) << "the third is of a version that tells no states";
  lose(FleetPart::state);
  EXPECT_EQ(amounts(make())["lost"], std::nullopt);
}

TEST_F(TwoHosts, MayBeSilentWhereTheEngineDidNotSay) {
  lose(FleetPart::alive);
  const auto fleet = make();
  const auto text = render_fleet(fleet, make_fleet_view(fleet, {}), {});
  EXPECT_THAT(text, HasSubstr("nobody tells whether anything is wrong"));
}

TEST_F(TwoHosts, BesideOneOfAnotherExporterAreThoseThatAreWell) {
  const std::vector<EngineSeries> present{one({{"instance", "d1:9400"}, {"UUID", "GPU-d"}, {"gpu", "3"}}, kNow - 40)};
  const ForeignAnswers answers{.exporter = &foreign_exporters()[0], .present = present, .readings = {}};
  const auto fleet = make(std::span(&answers, 1));
  const auto text = render_fleet(fleet, make_fleet_view(fleet, {}), {});
  EXPECT_THAT(text, HasSubstr("nothing is wrong with 3 GPUs, of 1 it is not known"));
}

TEST_F(TwoHosts, KnowTheirTroublesTheWorstFirst) {
  at(FleetPart::findings) = {of_gpu("n1:9837", "GPU-a", 1, {{"finding", "idle"}, {"severity", "note"}}),
                             of_gpu("n1:9837", "GPU-a", 1, {{"finding", "of-tomorrow"}, {"severity", "problem"}})};
  at(FleetPart::errors) = {of_gpu("n1:9837", "GPU-a", 5, {{"xid", "79"}}),
                           of_gpu("n1:9837", "GPU-a", 5, {{"xid", "x"}})};
  const auto gpu = make().gpus[0];
  ASSERT_THAT(gpu.findings, SizeIs(2));
  EXPECT_EQ(gpu.findings[0].id, "of-tomorrow");
  EXPECT_THAT(gpu.errors, ElementsAre(79U));
}

TEST_F(TwoHosts, PutOnTheGpuWhatIsOnItsInstances) {
  infos_.push_back(info("n2:9837", "MIG-1", "0:1", {{"parent", "GPU-c"}}));
  at(FleetPart::state).push_back(state("n2:9837", "MIG-1", "ok"));
  at(FleetPart::owners) = {of_gpu("n2:9837", "MIG-1", 1, {{"user", "ann"}})};
  const auto fleet = make();
  ASSERT_THAT(fleet.gpus, SizeIs(4));
  EXPECT_EQ(fleet.gpus[2].uuid, "GPU-c");
  EXPECT_EQ(fleet.gpus[2].held, true);
}

TEST_F(TwoHosts, AreBoundedInWhatTheySay) {
  const std::string huge(100'000, 'x');
  infos_[0].labels.emplace_back("cluster", huge + "\x1b[31m");
  for (int i = 0; i < 100; ++i) {
    at(FleetPart::owners).push_back(of_gpu("n1:9837", "GPU-a", 1, {{"user", std::to_string(i)}}));
    at(FleetPart::errors).push_back(of_gpu("n1:9837", "GPU-a", 1, {{"xid", std::to_string(i)}}));
  }
  const auto fleet = make();
  EXPECT_LE(fleet.hosts[0].cluster.size(), 256U);
  EXPECT_LE(fleet.gpus[0].owners.size(), 16U);
  EXPECT_LE(fleet.gpus[0].errors.size(), 16U);
}

// The same name in the clusters east and west, and none.
class SharedName : public Fleet {
 protected:
  SharedName() {
    infos_.clear();
    for (const auto *cluster : {"east", "west", ""}) {
      infos_.push_back(of(cluster, info("n1:9837", gpu(cluster).c_str(), "0")));
      at(FleetPart::alive).push_back(of(cluster, alive("n1:9837", 31)));
      at(FleetPart::state).push_back(of(cluster, state("n1:9837", gpu(cluster).c_str(), "ok")));
    }
  }
  static std::string gpu(const std::string &cluster) { return "GPU-" + cluster; }
  static EngineSeries of(const char *cluster, EngineSeries series) {
    if (*cluster != '\0') series.labels.emplace_back("cluster", cluster);
    return series;
  }
};

TEST_F(SharedName, IsOfAHostInEachCluster) {
  at(FleetPart::power) = {of("west", of_gpu("n1:9837", "GPU-west", 300))};
  const auto fleet = make();
  ASSERT_THAT(fleet.hosts, SizeIs(3));
  EXPECT_EQ(fleet.hosts[0].name, "n1");
  EXPECT_EQ(fleet.hosts[1].name, "east/n1");
  EXPECT_EQ(fleet.hosts[2].name, "west/n1");
  EXPECT_EQ(host_key(fleet.hosts[0]), "n1__");
  EXPECT_EQ(host_key(fleet.hosts[2]), "n1__west");
  EXPECT_EQ(find_host(fleet, "n1__west"), 2U);
  ASSERT_THAT(fleet.gpus, SizeIs(3));
  EXPECT_DOUBLE_EQ(fleet.gpus[2][FleetReading::power].value(), 300);
  EXPECT_EQ(host_matchers(place_of(fleet.hosts[2])), R"({instance="n1:9837",cluster="west"})");
  EXPECT_EQ(host_matchers(place_of(fleet.hosts[0])), R"({instance="n1:9837",cluster=""})");
  const auto count = [&](const char *name) {
    return make_fleet_view(fleet, {.filters = {{"host", name}}}).gpus.size();
  };
  EXPECT_EQ(count("east/n1"), 1U);
  EXPECT_EQ(count("n1"), 3U);
}

TEST_F(SharedName, DoesNotHideThatOneIsSilent) {
  at(FleetPart::alive).pop_back();
  at(FleetPart::alive).pop_back();
  last_alive_ = {of("west", alive("n1:9837", 631))};
  knows_silent_ = true;
  const auto fleet = make();
  ASSERT_THAT(fleet.hosts, SizeIs(3)) << "the last has a state";
  EXPECT_FALSE(fleet.hosts[1].silent_for);
  EXPECT_TRUE(fleet.hosts[2].silent_for);
  EXPECT_EQ(fleet.gpus[2].state, GpuState::silent);
}

TEST_F(SharedName, IsMissedInTheClusterThatLacksIt) {
  at(FleetPart::alive).pop_back();
  FleetAnswers answers{.infos = infos_, .parts = {}};
  answers.parts[static_cast<std::size_t>(FleetPart::alive)] = &at(FleetPart::alive);
  EXPECT_THAT(missing_hosts(answers), ElementsAre("n1:9837"));
}

TEST_F(TwoHosts, AreKnownByTheClusterThatTheyWereGivenLast) {
  for (const auto index : {0U, 1U}) {
    infos_.push_back(infos_[index]);
    infos_.back().labels.emplace_back("cluster", "east");
    at(FleetPart::state)[index].labels.emplace_back("cluster", "east");
  }
  last_alive_ = {alive("n1:9837", 700)};
  at(FleetPart::alive)[0].labels.emplace_back("cluster", "east");
  const auto fleet = make();
  ASSERT_THAT(fleet.hosts, SizeIs(2));
  EXPECT_EQ(fleet.hosts[0].name, "n1");
  EXPECT_EQ(fleet.hosts[0].cluster, "east");
  EXPECT_FALSE(fleet.hosts[0].silent_for);
  EXPECT_THAT(fleet.gpus, SizeIs(3));
  EXPECT_EQ(host_matchers(place_of(fleet.hosts[0])), R"({instance="n1:9837"})") << "its past is that of both";
}

TEST_F(TwoHosts, SayThatOneIsKnownTwice) {
  infos_.push_back(info("n3", "GPU-a", "0"));
  at(FleetPart::alive).push_back(alive("n3", 31));
  at(FleetPart::state).push_back(state("n3", "GPU-a", "ok"));
  const auto fleet = make();
  ASSERT_THAT(fleet.faults, SizeIs(1));
  EXPECT_THAT(fleet.faults[0].why.str(), HasSubstr("1 is known on two hosts"));
}

TEST_F(TwoHosts, StandBesideHostsOfOtherExporters) {
  const auto &dcgm = foreign_exporters()[0];
  const auto labels = [](const char *uuid) {
    return std::vector<Label>{{"instance", "d1:9400"}, {"UUID", uuid}, {"gpu", "3"}, {"modelName", "A100"}};
  };
  const std::vector<EngineSeries> present{one(labels("GPU-d"), kNow - 40), one(labels("GPU-a"), kNow - 40)};
  const std::vector<EngineSeries> used{one(labels("GPU-d"), 2048)};
  const std::vector<EngineSeries> blank{one(labels("GPU-d"), 140737488355328.0)};
  const ForeignAnswers answers{
      .exporter = &dcgm, .present = present, .readings = {&blank, nullptr, &used, nullptr, nullptr, nullptr}};
  const auto fleet = make(std::span(&answers, 1));
  ASSERT_THAT(fleet.gpus, SizeIs(4)) << "what an agent tells of is not shown twice";
  const auto &gpu = fleet.gpus[3];
  EXPECT_EQ(fleet.hosts[gpu.host].exporter, Exporter::dcgm);
  EXPECT_EQ(fleet.hosts[gpu.host].name, "d1");
  EXPECT_EQ(gpu.id, "3");
  EXPECT_DOUBLE_EQ(gpu[FleetReading::memory_used].value(), 2048.0 * (1 << 20));
  EXPECT_FALSE(gpu[FleetReading::utilization]) << "what DCGM does not know is a huge number";
  EXPECT_FALSE(gpu.held) << "nobody tells";
}

// What dcgm-exporter tells of its hosts: the moments of GPUs, and readings by their place in the exporter's list.
class Dcgm : public Fleet {
 protected:
  Dcgm() { infos_.clear(); }
  static std::vector<Label> labels(const char *uuid, const char *gpu, std::vector<Label> more = {}) {
    more.insert(more.end(), {{"instance", "d1:9400"}, {"UUID", uuid}, {"gpu", gpu}, {"modelName", "A100"}});
    return more;
  }
  void tell(const char *uuid, const char *gpu, double ago, std::vector<Label> more = {}) {
    present_.push_back(one(labels(uuid, gpu, std::move(more)), kNow - ago));
  }
  void read(FleetReading reading, const char *uuid, const char *gpu, double value, std::vector<Label> more = {}) {
    readings_[static_cast<std::size_t>(reading)].push_back(one(labels(uuid, gpu, std::move(more)), value));
  }
  FleetSnapshot look() {
    ForeignAnswers answers{.exporter = &foreign_exporters()[0], .present = present_, .readings = {}};
    for (const auto &each : readings_) answers.readings.push_back(&each);
    return make(std::span(&answers, 1));
  }

  std::vector<EngineSeries> present_{};
  std::array<std::vector<EngineSeries>, kFleetReadings> readings_{};
};

TEST_F(Dcgm, MakesOneGpuOfItsInstances) {
  for (const auto *instance : {"3", "1", "2"}) {
    const std::vector<Label> more{{"GPU_I_ID", instance}};
    tell("GPU-d", "4", 40, more);
    read(FleetReading::power, "GPU-d", "4", 300, more);
    read(FleetReading::temperature, "GPU-d", "4", 61, more);
    read(FleetReading::memory_used, "GPU-d", "4", 1024, more);
    read(FleetReading::true_activity, "GPU-d", "4", 0.5, more);
  }
  readings_[static_cast<std::size_t>(FleetReading::memory_total)] = {
      one(labels("GPU-d", "4", {{"GPU_I_ID", "1"}}), 20'000)};
  const auto fleet = look();
  ASSERT_THAT(fleet.gpus, SizeIs(4));
  const auto &whole = fleet.gpus[0];
  EXPECT_EQ(whole.uuid, "GPU-d");
  EXPECT_EQ(whole.id, "4");
  EXPECT_EQ(whole.name, "A100");
  EXPECT_EQ(fleet.gpus[1].id, "4:1");
  EXPECT_EQ(fleet.gpus[1].parent, "GPU-d");
  EXPECT_DOUBLE_EQ(whole[FleetReading::power].value(), 300) << "the board's, on each instance";
  EXPECT_DOUBLE_EQ(whole[FleetReading::temperature].value(), 61);
  EXPECT_DOUBLE_EQ(whole[FleetReading::memory_used].value(), 3 * 1024.0 * (1 << 20));
  EXPECT_FALSE(whole[FleetReading::memory_total]) << "of two of three it is not known";
  EXPECT_FALSE(whole[FleetReading::true_activity]) << "each tells of its own part";
}

TEST_F(Dcgm, OutlivesLabelsThatContradictEachOther) {
  tell("A", "0", 600, {{"GPU_I_ID", "x/"}});
  tell("A/x", "0", 0);
  tell("B", "0", 0);
  EXPECT_THAT(look().hosts, SizeIs(1));
}

TEST_F(Dcgm, NamesEachGpuOnceWhereNobodyTellsItsNumber) {
  const auto smi = [](const char *uuid, double ago) {
    return one({{"instance", "d1:9835"}, {"uuid", uuid}, {"name", "T4"}}, kNow - ago);
  };
  const std::vector<EngineSeries> present{smi("a", 40), smi("b", 640)};
  const ForeignAnswers answers{.exporter = &foreign_exporters()[1], .present = present, .readings = {}};
  const auto fleet = make(std::span(&answers, 1));
  ASSERT_THAT(fleet.gpus, SizeIs(2));
  EXPECT_EQ(fleet.gpus[1].state, GpuState::gone);
}

TEST_F(Dcgm, IsAnotherHostThanTheAgentOfTheSameName) {
  infos_ = {info("d1:9400", "GPU-a", "0")};
  at(FleetPart::alive) = {alive("d1:9400", 20)};
  at(FleetPart::state) = {state("d1:9400", "GPU-a", "ok")};
  tell("GPU-d", "1", 20);
  read(FleetReading::utilization, "GPU-d", "1", 80);
  const auto fleet = look();
  ASSERT_THAT(fleet.hosts, SizeIs(2));
  ASSERT_THAT(fleet.gpus, SizeIs(2));
  EXPECT_EQ(fleet.gpus[1].state, GpuState::ok);
  EXPECT_DOUBLE_EQ(fleet.gpus[1][FleetReading::utilization].value(), 80);
  EXPECT_NE(host_key(fleet.hosts[0]), host_key(fleet.hosts[1]));
}

TEST_F(Dcgm, DoesNotMakeAnAgentSeemAlive) {
  infos_ = {info("d1:9400", "GPU-a", "0"), info("n2", "GPU-x", "0")};
  at(FleetPart::alive) = {alive("n2", 20)};
  at(FleetPart::state) = {state("n2", "GPU-x", "ok")};
  last_alive_ = {alive("d1:9400", 620)};
  tell("GPU-d", "1", 20);
  const auto fleet = look();
  ASSERT_THAT(fleet.hosts, SizeIs(3));
  EXPECT_EQ(fleet.hosts[0].exporter, Exporter::gpulse);
  EXPECT_NEAR(fleet.hosts[0].silent_for.value_or(0s).count(), 600, 1);
  EXPECT_FALSE(fleet.hosts[2].silent_for);
}

TEST_F(Dcgm, HasAHostInEachClusterThatHasOneOfTheName) {
  const auto at_address = [&](const char *instance, const char *uuid, const char *cluster) {
    present_.push_back(
        one({{"instance", instance}, {"cluster", cluster}, {"Hostname", "node-1"}, {"UUID", uuid}, {"gpu", "0"}},
            kNow - 40));
  };
  at_address("10.0.0.1:9400", "GPU-a", "east");
  at_address("10.1.0.1:9400", "GPU-b", "west");
  const auto fleet = look();
  const auto view = make_fleet_view(fleet, {.sort = FleetSort::name});
  ASSERT_THAT(view.groups, SizeIs(2));
  EXPECT_EQ(view.groups[0].name, "east/node-1");
  EXPECT_EQ(view.groups[1].name, "west/node-1");
}

TEST_F(Dcgm, TakesNoMoreJobsThanAGpuCanHave) {
  for (int i = 0; i < 1000; ++i) tell("GPU-d", "0", 40, {{"hpc_job", std::to_string(i)}});
  EXPECT_THAT(look().gpus.at(0).owners, SizeIs(16));
}

TEST_F(Dcgm, DoesNotTellWhetherAnythingIsWrong) {
  tell("GPU-d", "0", 40);
  const auto fleet = look();
  const auto view = make_fleet_view(fleet, {});
  EXPECT_THAT(render_fleet(fleet, view, {}), HasSubstr("nobody tells whether anything is wrong"));
  const auto json = fleet_json(fleet, view);
  EXPECT_THAT(json, HasSubstr(R"("with_driver_errors":null,"with_problems":null,"with_notes":null,)"));
  EXPECT_THAT(json, HasSubstr(R"("lost":null,"not_responding":null,"gone":null,"asleep":null,"silent":0)"));
  EXPECT_THAT(json, HasSubstr(R"("state_known":0,"findings_known":0,"driver_errors_known":0)"));
}

TEST_F(Dcgm, HasAJobOnTheInstancesAndOnTheGpu) {
  tell("GPU-d", "0", 40, {{"GPU_I_ID", "1"}, {"hpc_job", "7"}});
  tell("GPU-d", "0", 40, {{"GPU_I_ID", "2"}});
  const auto fleet = look();
  ASSERT_THAT(fleet.gpus, SizeIs(3));
  EXPECT_THAT(fleet.gpus[0].owners, ElementsAre(FleetOwner{.job = "7"}));
  EXPECT_THAT(fleet.gpus[2].owners, SizeIs(0));
}

TEST_F(Dcgm, IsNotHeldByAJobThatHasEnded) {
  tell("GPU-d", "0", 2440, {{"hpc_job", "100"}});
  tell("GPU-d", "0", 40, {{"hpc_job", "200"}});
  tell("GPU-e", "1", 2440, {{"hpc_job", "100"}});
  tell("GPU-e", "1", 40);
  const auto fleet = look();
  ASSERT_THAT(fleet.gpus, SizeIs(2));
  EXPECT_THAT(fleet.gpus[0].owners, ElementsAre(FleetOwner{.job = "200"}));
  EXPECT_THAT(fleet.gpus[1].owners, SizeIs(0));
}

TEST_F(Dcgm, HasLostAGpuThatFallsAwayWhileTheHostGoesOn) {
  tell("GPU-d", "0", 40);
  tell("GPU-e", "1", 640, {{"hpc_job", "100"}});
  tell("GPU-f", "2", 100);
  read(FleetReading::power, "GPU-e", "1", 300);
  const auto fleet = look();
  ASSERT_THAT(fleet.gpus, SizeIs(3));
  EXPECT_EQ(fleet.gpus[0].state, GpuState::ok);
  EXPECT_EQ(fleet.gpus[1].state, GpuState::gone);
  EXPECT_THAT(fleet.gpus[1].owners, SizeIs(0));
  EXPECT_FALSE(fleet.gpus[1][FleetReading::power]) << "an engine may go on with the last value";
  EXPECT_EQ(fleet.gpus[2].state, GpuState::ok) << "a scrape may be late";
}

TEST_F(Dcgm, IsKnownByTheClusterThatItWasGivenLast) {
  tell("GPU-d", "0", 640);
  tell("GPU-e", "1", 640);
  tell("GPU-d", "0", 40, {{"cluster", "east"}});
  tell("GPU-e", "1", 40, {{"cluster", "east"}});
  const auto fleet = look();
  ASSERT_THAT(fleet.hosts, SizeIs(1));
  EXPECT_EQ(fleet.hosts[0].cluster, "east");
  EXPECT_FALSE(fleet.hosts[0].silent_for);
  EXPECT_THAT(fleet.gpus, SizeIs(2));
}

TEST_F(Dcgm, ForgetsAGpuAndInstancesThatOthersHaveReplaced) {
  tell("GPU-old", "0", 640);
  tell("GPU-d", "0", 40, {{"GPU_I_ID", "1"}});
  tell("GPU-d", "0", 640, {{"GPU_I_ID", "9"}});
  const auto fleet = look();
  ASSERT_THAT(fleet.gpus, SizeIs(2));
  EXPECT_EQ(fleet.gpus[0].uuid, "GPU-d");
  EXPECT_EQ(fleet.gpus[1].id, "0:1");
}

TEST_F(Dcgm, IsEnoughWhereAnotherExporterTellsOfTheSameGpu) {
  tell("GPU-D", "0", 40);
  tell("GPU-M", "1", 40, {{"GPU_I_ID", "1"}});
  const auto smi = [](const char *uuid) {
    return one({{"instance", "d1:9835"}, {"uuid", uuid}, {"index", "0"}}, kNow - 40);
  };
  const std::vector<EngineSeries> others{smi("d"), smi("m"), smi("only-here")};
  const std::array both{ForeignAnswers{.exporter = &foreign_exporters()[0], .present = present_, .readings = {}},
                        ForeignAnswers{.exporter = &foreign_exporters()[1], .present = others, .readings = {}}};
  const auto fleet = make(both);
  ASSERT_THAT(fleet.gpus, SizeIs(4)) << "one of them an instance";
  EXPECT_EQ(fleet.gpus[3].uuid, "only-here");
  EXPECT_THAT(fleet.faults, SizeIs(0));
}

TEST_F(TwoHosts, SayThatOneIsKnownTwiceHoweverItIsWritten) {
  infos_.push_back(info("n3", "a", "0"));
  at(FleetPart::alive).push_back(alive("n3", 31));
  at(FleetPart::state).push_back(state("n3", "a", "ok"));
  EXPECT_THAT(make().faults, SizeIs(1));
}

TEST(Foreign, KnowsAUuidHoweverItIsWritten) {
  EXPECT_EQ(plain_uuid("GPU-2F3A"), "2f3a");
  EXPECT_EQ(plain_uuid("2f3a"), "2f3a");
}

TEST(Foreign, AddsWhatTheWholeIsMadeOf) {
  const auto &dcgm = foreign_exporters()[0];
  EXPECT_EQ(reading_query(dcgm, dcgm.readings[3]),
            "max by (instance,cluster,UUID,GPU_I_ID) (DCGM_FI_DEV_FB_USED) + max by (instance,cluster,UUID,GPU_I_ID) "
            "(DCGM_FI_DEV_FB_FREE)");
}

TEST(FleetQueries, HaveTheNamesThatTheAgentsPublish) {
  EXPECT_EQ(fleet_query(FleetPart::utilization), "max by (instance,cluster,uuid) (gpulse_gpu_utilization_ratio)");
  EXPECT_EQ(fleet_query(FleetPart::true_activity), "max by (instance,cluster,uuid) (gpulse_sm_active_ratio)");
  EXPECT_EQ(fleet_query(FleetPart::memory_total), "max by (instance,cluster,uuid) (gpulse_memory_total_bytes)");
  EXPECT_EQ(fleet_query(FleetPart::temperature), "max by (instance,cluster,uuid) (gpulse_temperature_gpu_celsius)");
  EXPECT_EQ(fleet_query(FleetPart::state), "max by (instance,cluster,uuid,gpu,state) (gpulse_gpu_state == 1)");
  EXPECT_EQ(
      fleet_query(FleetPart::idle),
      "max by (instance,cluster,uuid) (rate(gpulse_busy_seconds_total[15m])) < 0.02 and on (instance,cluster,uuid) "
      "gpulse_gpu_owner_info offset 15m and on (instance,cluster,uuid) gpulse_busy_seconds_total offset 5m");
  EXPECT_THAT(last_alive_query({"n1:9837", "a.b"}), HasSubstr(R"({instance=~"n1:9837|a\\.b"}[1d])"));
}

}  // namespace
}  // namespace gpulse::fleet
