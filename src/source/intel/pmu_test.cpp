// SPDX-License-Identifier: Apache-2.0
#include "source/intel/pmu.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "base/temporary_folder.hpp"

namespace gpulse::intel {
namespace {

constexpr auto kRender = device_metric("render_utilization_percent");
constexpr auto kVideo = device_metric("video_utilization_percent");
constexpr std::string_view kDevices = "/sys/bus/event_source/devices/";

TEST(PmuFormat, PlacesInTheWord) {
  EXPECT_EQ(parse_format("config:20-27"), (Format{{20, 27}}));
  EXPECT_EQ(parse_format("config:7"), (Format{{7, 7}}));
  EXPECT_EQ(parse_format("config:0-63"), (Format{{0, 63}}));
  EXPECT_EQ(parse_format("config:0-7,32-35"), (Format{{0, 7}, {32, 35}}));
  for (const auto *const bad :
       {"", "config", "config:", "config1:0-7", "config:8-7", "config:0-64", "config:x", "config:-3"}) {
    EXPECT_EQ(parse_format(bad), Format{}) << bad;
  }
}

TEST(PmuEvent, TermsAndTheirNumbers) {
  EXPECT_EQ(parse_event("config=0x100003"), (std::vector<Term>{{"config", 0x100003}}));
  EXPECT_EQ(parse_event("event=0x02,gt=1"), (std::vector<Term>{{"event", 2}, {"gt", 1}}));
  EXPECT_EQ(parse_event("edge"), (std::vector<Term>{{"edge", 1}}));
  for (const auto *const bad : {"", "=1", "event=", "event=0x", "event=2y", "event=-1", "a=1,=2"}) {
    EXPECT_TRUE(parse_event(bad).empty()) << bad;
  }
}

// As the kernel lists them for i915: class << 12 | instance << 4 | sample, and others from 0x100000 on.
void write_i915(const TemporaryFolder &machine, const std::string &name) {
  const auto folder = std::string(kDevices) + name;
  machine.write(folder + "/type", "18\n");
  machine.write(folder + "/cpumask", "0\n");
  machine.write(folder + "/format/i915_eventid", "config:0-20\n");
  machine.write(folder + "/events/rcs0-busy", "config=0x0\n");
  machine.write(folder + "/events/rcs0-busy.unit", "ns\n");
  machine.write(folder + "/events/rcs0-wait", "config=0x1\n");
  machine.write(folder + "/events/vcs0-busy", "config=0x2000\n");
  machine.write(folder + "/events/vcs1-busy", "config=0x2010\n");
  machine.write(folder + "/events/ccs0-busy", "config=0x4000\n");
  machine.write(folder + "/events/actual-frequency", "config=0x100000\n");
  machine.write(folder + "/events/rc6-residency", "config=0x100003\n");
}

TEST(Pmu, EnginesOfI915) {
  const TemporaryFolder machine;
  write_i915(machine, "i915");
  const auto pmu = read_pmu(machine.root(), "i915");
  ASSERT_TRUE(pmu);
  EXPECT_EQ(pmu->type, 18U);
  const auto engines = i915_pmu_engines(*pmu);
  ASSERT_EQ(engines.size(), 4U);
  EXPECT_EQ(engines[0].metric, device_metric("compute_utilization_percent"));
  EXPECT_EQ(engines[0].busy, 0x4000U);
  EXPECT_EQ(engines[1].metric, kRender);
  EXPECT_EQ(engines[1].busy, 0x0U);
  EXPECT_EQ(engines[2].busy, 0x2000U);
  EXPECT_EQ(engines[3].busy, 0x2010U);
  EXPECT_EQ(pmu->encode(parse_event(pmu->events.at("rc6-residency"))), 0x100003U);
}

void write_xe(const TemporaryFolder &machine, const std::string &name) {
  const auto folder = std::string(kDevices) + name;
  machine.write(folder + "/type", "24\n");
  machine.write(folder + "/format/event", "config:0-11\n");
  machine.write(folder + "/format/engine_instance", "config:12-19\n");
  machine.write(folder + "/format/engine_class", "config:20-27\n");
  machine.write(folder + "/format/gt", "config:60-63\n");
  machine.write(folder + "/events/engine-active-ticks", "event=0x02\n");
  machine.write(folder + "/events/engine-total-ticks", "event=0x03\n");
  machine.write(folder + "/events/gt-c6-residency", "event=0x01\n");
}

TEST(Pmu, XeEventsAreEncodedByTheirFormat) {
  const TemporaryFolder machine;
  write_xe(machine, "xe_0000_03_00.0");
  const auto pmu = read_pmu(machine.root(), "xe_0000_03_00.0");
  ASSERT_TRUE(pmu);
  const std::array vcs1{Term{"event", 2}, Term{"engine_class", 2}, Term{"engine_instance", 1}, Term{"gt", 1}};
  EXPECT_EQ(pmu->encode(vcs1), 0x1000000000201002U);
  const std::array too_big{Term{"event", 0x1000}};
  EXPECT_EQ(pmu->encode(too_big), std::nullopt);
  const std::array unknown{Term{"function", 1}};
  EXPECT_EQ(pmu->encode(unknown), std::nullopt);
  Gt gt;
  gt.number = 1;
  const auto engines = xe_pmu_engines(*pmu, std::span(&gt, 1));
  ASSERT_EQ(engines.size(), 40U);  // five classes, eight places each
  EXPECT_EQ(engines[17].metric, kVideo);
  EXPECT_EQ(engines[17].busy, 0x1000000000201002U);
  EXPECT_EQ(engines[17].total, 0x1000000000201003U);
}

TEST(Pmu, NamesByCard) {
  drm::Card card;
  card.driver = kI915;
  card.pci = "0000:00:02.0";
  EXPECT_EQ(pmu_name(card, true), "i915");
  card.pci = "0000:03:00.0";
  EXPECT_EQ(pmu_name(card, false), "i915_0000_03_00.0");
  card.driver = kXe;
  EXPECT_EQ(pmu_name(card, true), "xe_0000_03_00.0");
}

TEST(Pmu, OneThatIsNotThere) {
  const TemporaryFolder machine;
  EXPECT_FALSE(read_pmu(machine.root(), "i915"));
  machine.write(std::string(kDevices) + "i915/type", "many\n");
  EXPECT_FALSE(read_pmu(machine.root(), "i915"));
}

// Counters that the test sets, by event number.
struct FakeCounters {
  std::map<std::uint64_t, Counter::Count> counts;
  int refuse_with = 0;

  struct Fake final : Counter {
    Fake(FakeCounters &all, std::uint64_t config) : all_(all), config_(config) {}
    std::optional<Count> read() override {
      const auto found = all_.counts.find(config_);
      return found == all_.counts.end() ? std::nullopt : std::optional(found->second);
    }
    FakeCounters &all_;
    std::uint64_t config_;
  };

  OpenCounter open_node() {
    return [this](std::uint32_t, std::uint64_t config, std::uint32_t) -> std::unique_ptr<Counter> {
      if (counts.contains(config)) return std::make_unique<Fake>(*this, config);
      errno = refuse_with != 0 ? refuse_with : ENOENT;
      return nullptr;
    };
  }
};

TEST(PmuMeterTest, BusyTimeOverEnabledTime) {
  FakeCounters counters;
  counters.counts = {{0x0, {1000, 5000}}, {0x2000, {0, 5000}}, {0x2010, {100, 5000}}};
  const std::array engines{PmuEngine{kRender, 0x0, {}}, PmuEngine{kVideo, 0x2000, {}}, PmuEngine{kVideo, 0x2010, {}}};
  PmuMeter meter(Pmu{}, engines, counters.open_node());
  Row row(Scope::device, Reason::not_supported);
  meter.update(row);
  EXPECT_TRUE(row[kRender].is(Reason::not_sampled));
  counters.counts = {{0x0, {1250, 6000}}, {0x2000, {1000, 6000}}, {0x2010, {600, 6000}}};
  meter.update(row);
  EXPECT_EQ(row[kRender], Reading(25));
  EXPECT_EQ(row[kVideo], Reading(75));  // one engine fully busy, the other half of the time
  EXPECT_TRUE(row[device_metric("copy_utilization_percent")].is(Reason::not_supported));
}

TEST(PmuMeterTest, ActiveOverTotalTicks) {
  FakeCounters counters;
  counters.counts = {{2, {100, 0}}, {3, {1000, 0}}};
  const std::array engines{PmuEngine{kRender, 2, 3}, PmuEngine{kVideo, 0x1002, 0x1003}};
  PmuMeter meter(Pmu{}, engines, counters.open_node());
  Row row(Scope::device, Reason::not_supported);
  meter.update(row);
  counters.counts = {{2, {160, 0}}, {3, {1200, 0}}};
  meter.update(row);
  EXPECT_EQ(row[kRender], Reading(30));
  EXPECT_TRUE(row[kVideo].is(Reason::not_supported));  // it could not be opened
}

TEST(PmuMeterTest, CounterThatGoesBackOrFailsGivesAReason) {
  FakeCounters counters;
  counters.counts = {{0x0, {1000, 5000}}};
  const std::array engines{PmuEngine{kRender, 0x0, {}}};
  PmuMeter meter(Pmu{}, engines, counters.open_node());
  Row row(Scope::device, Reason::not_supported);
  meter.update(row);
  counters.counts = {{0x0, {10, 6000}}};
  meter.update(row);
  EXPECT_TRUE(row[kRender].is(Reason::not_sampled));
  counters.counts.clear();
  meter.update(row);
  EXPECT_TRUE(row[kRender].is(Reason::error));
  counters.counts = {{0x0, {0, 7000}}};
  meter.update(row);
  EXPECT_TRUE(row[kRender].is(Reason::not_sampled));
  counters.counts = {{0x0, {900, 7500}}};
  meter.update(row);
  EXPECT_TRUE(row[kRender].is(Reason::out_of_range));
}

TEST(PmuMeterTest, WithoutTheRightThereIsNone) {
  FakeCounters counters;
  counters.refuse_with = EACCES;
  const std::array engines{PmuEngine{kRender, 0x0, {}}, PmuEngine{kVideo, 0x2000, {}}};
  EXPECT_TRUE(PmuMeter(Pmu{}, engines, counters.open_node()).empty());
}

TEST(PerfCounter, KernelRefusesWhatItDoesNotHave) {
  // This machine has no such set of counters.
  EXPECT_EQ(open_perf_counter(0xFFFFFF, 0, 0), nullptr);
  EXPECT_NE(errno, 0);
}

}  // namespace
}  // namespace gpulse::intel
