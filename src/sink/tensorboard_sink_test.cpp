// SPDX-License-Identifier: Apache-2.0
// What lies in TensorBoard's folders after samples with steps, without, and with steps that go back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <limits>

#include "base/temporary_folder.hpp"
#include "sink/sink.hpp"
#include "sink/testing.hpp"
#include "view/tensorboard.hpp"
#include "view/testing.hpp"

namespace gpulse::sink {
namespace {

using ::testing::ElementsAre;
using testing::events_of;
using ::testing::HasSubstr;
using testing::only_file;

constexpr auto kPower = device_metric("power_draw_watts");
constexpr auto kPeak = device_metric("power_peak_watts");
constexpr auto kEnergy = device_metric("energy_joules");
constexpr auto kState = device_metric("performance_state");
constexpr auto kUsed = device_metric("memory_used_bytes");
constexpr double kMiB = 1024 * 1024;

Snapshot sample_at(int seconds, double power) {
  Snapshot snapshot;
  snapshot.time = WallTime(std::chrono::seconds(1700000000 + seconds));
  snapshot.devices.push_back(view::testing::make_device(0));
  snapshot.devices[0].row[kPower] = power;
  return snapshot;
}

class TensorboardSinkTest : public ::testing::Test {
 protected:
  SinkOptions options(std::vector<std::string> fields = {"power_draw_watts"}) const {
    return {.path = folder.path("/runs"), .fields = std::move(fields)};
  }
  std::unique_ptr<Sink> open(const SinkOptions &options) const {
    auto sink = sink::open(options);
    EXPECT_TRUE(sink.has_value());
    return sink ? std::move(*sink) : nullptr;
  }
  std::vector<testing::Event> events(const std::string &run = "gpu") const {
    return events_of(only_file(folder.path("/runs/" + run)));
  }
  // "step=value" of the power of GPU 0.
  std::vector<std::string> powers(const std::string &run = "gpu") const {
    std::vector<std::string> points;
    for (const auto &event : events(run)) {
      points.push_back(fmt::format("{}={}", event.step, event.values.at("gpu0/power_draw_watts")));
    }
    return points;
  }
  bool has_run(const std::string &run) const { return std::filesystem::exists(folder.path("/runs/" + run)); }

  TemporaryFolder folder;
};

TEST_F(TensorboardSinkTest, WithoutStepsEachSampleIsAPointByItsNumber) {
  const auto sink = open(options());
  EXPECT_EQ(sink->place(), folder.path("/runs/gpu"));
  EXPECT_THAT(only_file(sink->place()).filename().string(), HasSubstr("events.out.tfevents."));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sink->write(sample_at(i, 100 + i)));
  // Nothing waits for the end.
  EXPECT_THAT(powers(), ElementsAre("0=100", "1=101", "2=102"));
  EXPECT_EQ(events()[2].time, 1700000002.0);
  EXPECT_EQ(sink->size(), testing::bytes_of(only_file(sink->place())).size());
}

TEST_F(TensorboardSinkTest, TheSamplesOfAStepBecomeOnePoint) {
  const auto sink = open(options({"power_draw_watts", "power_peak_watts", "performance_state", "energy_joules"}));
  const auto write = [&](int step, double power, double peak, double state, double energy) {
    auto sample = sample_at(step, power);
    sample.devices[0].row[kPeak] = peak;
    sample.devices[0].row[kState] = state;
    sample.devices[0].row[kEnergy] = energy;
    ASSERT_TRUE(sink->write(sample, step));
  };
  write(7, 100, 300, 0, 5e9);
  write(7, 200, 250, 2, 5e9 + 30);
  EXPECT_TRUE(events().empty());  // the step still goes on
  write(9, 400, 410, 1, 5e9 + 90);
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events()[0].step, 7);
  EXPECT_EQ(events()[0].values.at("gpu0/power_draw_watts"), 150);
  EXPECT_EQ(events()[0].values.at("gpu0/power_peak_watts"), 300);
  EXPECT_EQ(events()[0].values.at("gpu0/performance_state"), 2);
  EXPECT_EQ(events()[0].values.at("gpu0/energy_joules"), 30);
  ASSERT_TRUE(sink->close());
  ASSERT_EQ(events().size(), 2U);
  EXPECT_EQ(events()[1].step, 9);
  EXPECT_EQ(events()[1].values.at("gpu0/energy_joules"), 90);
  EXPECT_FALSE(sink->write(sample_at(0, 1)));
  EXPECT_TRUE(sink->close());
}

TEST_F(TensorboardSinkTest, ASampleWithoutAStepBelongsToTheOneThatGoesOn) {
  auto sink = open(options());
  ASSERT_TRUE(sink->write(sample_at(0, 100), 5));
  ASSERT_TRUE(sink->write(sample_at(1, 300)));
  sink.reset();
  EXPECT_THAT(powers(), ElementsAre("5=200"));
}

TEST_F(TensorboardSinkTest, AStepThatGoesBackErasesNothing) {
  auto sink = open(options());
  for (const int step : {1, 2, 3, 2, 3}) ASSERT_TRUE(sink->write(sample_at(step, step), step));
  sink.reset();
  EXPECT_THAT(powers("gpu"), ElementsAre("1=1", "2=2", "3=3"));
  EXPECT_THAT(powers("gpu_1"), ElementsAre("2=2", "3=3"));
  // What the curves are is said in each run.
  EXPECT_EQ(events("gpu_1")[0].titles.size(), 1U);
}

TEST_F(TensorboardSinkTest, AProgramThatCountsEveryEpochFromZeroDoesNotFillTheDisk) {
  auto sink = open(options());
  for (int i = 0; i < 150; ++i) {
    ASSERT_TRUE(sink->write(sample_at(i, 1), 0));
    ASSERT_TRUE(sink->write(sample_at(i, 1), 1));
  }
  sink.reset();
  EXPECT_TRUE(has_run("gpu_100"));
  EXPECT_FALSE(has_run("gpu_101"));
  EXPECT_THAT(powers("gpu_100"), ElementsAre("0=1", "1=1"));
}

TEST_F(TensorboardSinkTest, StepsAfterNumbersBeginARunOfTheirOwn) {
  auto sink = open(options());
  ASSERT_TRUE(sink->write(sample_at(0, 10)));
  ASSERT_TRUE(sink->write(sample_at(1, 11)));
  ASSERT_TRUE(sink->write(sample_at(2, 12), 0));
  sink.reset();
  EXPECT_THAT(powers("gpu"), ElementsAre("0=10", "1=11"));
  EXPECT_THAT(powers("gpu_1"), ElementsAre("0=12"));
}

TEST_F(TensorboardSinkTest, WhereStepsArePromisedNothingComesBeforeTheFirst) {
  auto asked = options();
  asked.steps = true;
  auto sink = open(asked);
  ASSERT_TRUE(sink->write(sample_at(0, 10)));
  ASSERT_TRUE(sink->write(sample_at(1, 11), 0));
  sink.reset();
  EXPECT_THAT(powers(), ElementsAre("0=11"));
  EXPECT_FALSE(has_run("gpu_1"));
}

TEST_F(TensorboardSinkTest, ARunThatIsThereIsLeftAlone) {
  open(options());
  std::filesystem::create_directory(folder.path("/runs/gpu_1"));  // somebody has just begun
  EXPECT_EQ(open(options())->place(), folder.path("/runs/gpu_2"));
}

TEST_F(TensorboardSinkTest, NamesOfRunsStayBelowTheFolder) {
  auto asked = options();
  for (const char *name : {"", "/tmp/gpu", "../gpu", "a/../../gpu", "gpu/", "."}) {
    asked.run = name;
    EXPECT_FALSE(sink::open(asked)) << name;
  }
  asked.run = "node3/gpu";
  EXPECT_EQ(open(asked)->place(), folder.path("/runs/node3/gpu"));
}

TEST_F(TensorboardSinkTest, ACurveIsIntroducedOnceAndWhatIsUnknownIsNoPoint) {
  const auto sink = open(options({"power_draw_watts", "fan_speed_percent", "host.cpu_percent"}));
  auto sample = sample_at(0, 1);
  ASSERT_TRUE(sink->write(sample));
  sample.devices[0].row[kPower] = Reason::lost;
  sample.devices[0].row[device_metric("fan_speed_percent")] = 30;
  sample.host[host_metric("cpu_percent")] = 50;
  ASSERT_TRUE(sink->write(sample));
  ASSERT_TRUE(sink->write(sample));
  const auto all = events();
  ASSERT_EQ(all.size(), 3U);
  using Titles = std::map<std::string, std::string>;
  EXPECT_EQ(all[0].titles, (Titles{{"gpu0/power_draw_watts", "GPU 0: Power drawn by the board (W)"}}));
  EXPECT_EQ(all[1].titles.size(), 2U);
  EXPECT_TRUE(all[2].titles.empty());
  EXPECT_EQ(all[2].values, (std::map<std::string, float>{{"gpu0/fan_speed_percent", 30}, {"host/cpu_percent", 50}}));
}

TEST_F(TensorboardSinkTest, BytesAreMebibytesAndAnInstanceHasATagOfItsOwn) {
  const auto sink = open(options({"memory.used", "pcie_rx_bytes_per_second"}));
  auto sample = sample_at(0, 1);
  sample.devices.push_back(view::testing::make_device(1));
  sample.devices[1].id = {.index = 0, .instance = 3};
  sample.devices[0].row[kUsed] = 81559 * kMiB;
  sample.devices[1].row[kUsed] = 10.5 * kMiB;
  ASSERT_TRUE(sink->write(sample));
  const auto values = events()[0].values;
  EXPECT_EQ(values.at("gpu0/memory_used_mib"), 81559);
  EXPECT_EQ(values.at("gpu0.3/memory_used_mib"), 10.5);
  EXPECT_TRUE(values.contains("gpu0/pcie_rx_mib_per_second"));
}

TEST_F(TensorboardSinkTest, ADeviceThatTakesTheNumberOfAnotherHasItsOwnCurve) {
  const auto sink = open(options());
  ASSERT_TRUE(sink->write(sample_at(0, 1)));
  auto sample = sample_at(1, 2);
  sample.devices[0] = view::testing::make_device(5);
  sample.devices[0].id.index = 0;
  ASSERT_TRUE(sink->write(sample));
  EXPECT_TRUE(events()[1].values.contains("gpu0-GPU-00000005-0000/power_draw_watts"));
  EXPECT_FALSE(events()[1].values.contains("gpu0/power_draw_watts"));
}

TEST_F(TensorboardSinkTest, OnlyTheDevicesThatWereAskedFor) {
  auto asked = options();
  asked.devices = {"GPU-00000001-0000"};
  const auto sink = open(asked);
  auto sample = sample_at(0, 1);
  sample.devices.push_back(view::testing::make_device(1));
  ASSERT_TRUE(sink->write(sample));
  EXPECT_EQ(events()[0].values.size(), 1U);
  EXPECT_TRUE(events()[0].values.contains("gpu1/power_draw_watts"));
}

TEST_F(TensorboardSinkTest, WhatIsTooLargeForAFloatIsNoPoint) {
  const auto sink = open(options({"power_draw_watts", "temperature_gpu_celsius"}));
  ASSERT_TRUE(sink->write(sample_at(0, std::numeric_limits<double>::max())));
  EXPECT_EQ(events()[0].values.size(), 1U);
}

TEST_F(TensorboardSinkTest, AChildThatWasForkedOffWritesNothing) {
  auto sink = open(options());
  ASSERT_TRUE(sink->write(sample_at(0, 1), 1));
  const auto pid = ::fork();
  if (pid == 0) {
    const bool refused = !sink->write(sample_at(0, 2), 2);
    sink.reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(events().empty());
  sink.reset();
  EXPECT_THAT(powers(), ElementsAre("1=1"));
}

TEST(TensorboardFields, WhatMakesNoCurveIsNamed) {
  const auto said = [](const std::string &field) {
    const std::vector<std::string> fields{field};
    const auto set = view::tensorboard_fields(fields);
    return set ? std::string() : set.error().line();
  };
  EXPECT_THAT(said("nosuch"), HasSubstr("no field 'nosuch'"));
  EXPECT_THAT(said("throttle_reasons"), HasSubstr("'throttle_reasons' makes no curve"));
  EXPECT_THAT(said("process.gpu_memory_bytes"), HasSubstr("makes no curve"));
  EXPECT_THAT(said("uuid"), HasSubstr("none of the fields"));
  EXPECT_EQ(said("power.draw"), "");
}

}  // namespace
}  // namespace gpulse::sink
