// SPDX-License-Identifier: Apache-2.0
#include "history/reader.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/temporary_folder.hpp"
#include "history/testing.hpp"

namespace gpulse::history {
namespace {

using namespace std::chrono_literals;
using testing::append;
using testing::at;
using testing::make_device;
using testing::make_process;
using testing::open_store;

// Two GPUs for ten minutes and 25 seconds. GPU 0: use = the second of the minute, 100 W; GPU 1: use 50. Ann trains on
// GPU 0 in minutes 1 and 2 with use 80, Bob on GPU 1 from second 605 on.
class AHistory : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = open_store(path_);
    ASSERT_TRUE(store);
    std::vector<TimedSample> all;
    for (int second = 0; second < 625; ++second) {
      Snapshot now;
      now.time = at(second);
      now.hostname = "n1";
      now.host[host_metric("cpu_percent")] = 10;
      for (std::uint32_t i = 0; i < 2; ++i) {
        auto device = make_device(i);
        device.row[device_metric("gpu_utilization_percent")] = i == 0 ? second % 60 : 50;
        device.row[device_metric("energy_joules")] = 1000.0 + 100.0 * second;
        device.row[device_metric("power_limit_watts")] = second < 300 ? 700 : 500;
        device.row[device_metric("voltage_graphics_volts")] = 0.8;
        now.devices.push_back(device);
      }
      if (second >= 60 && second < 180) now.processes.push_back(process(4711, 0, "ann", 80, 8e9));
      if (second >= 605) now.processes.push_back(process(4712, 1, "bob", 20, 1e9 + second));
      if (second == 100) now.events = std::vector<Event>{xid(now)};
      all.push_back({std::make_shared<const Snapshot>(now), 1});
    }
    append(*store, all);
    store.reset();
    auto reader = Reader::open(path_);
    ASSERT_TRUE(reader.has_value()) << reader.error().line();
    reader_.emplace(std::move(*reader));
  }

  static Process process(std::uint32_t pid, std::uint32_t device, const std::string &user, double use, double memory) {
    auto made = make_process(pid, device, user, "python train.py");
    made.row[process_metric("gpu_utilization_percent")] = use;
    made.row[process_metric("gpu_memory_bytes")] = memory;
    return made;
  }
  static Event xid(const Snapshot &now) {
    return {
        .time = now.time, .device = "GPU-1", .kind = EventKind::xid, .code = 79, .text = "GPU has fallen off the bus"};
  }
  Range range(double from, double to, std::vector<MetricId> metrics, std::chrono::seconds step = 0s,
              std::vector<std::int64_t> devices = {}) {
    auto got = reader_->range(
        {.span = {at(from), at(to)}, .metrics = std::move(metrics), .devices = std::move(devices), .step = step});
    EXPECT_TRUE(got.has_value()) << got.error().line();
    return got.value_or(Range{});
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("/history.db");
  std::optional<Reader> reader_;
};

constexpr auto kUse = device_metric("gpu_utilization_percent");

TEST(HistoryReader, AProcessWasSeenLastWhenItWas) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/history.db";
  const auto store = open_store(path);
  ASSERT_TRUE(store);
  for (int second = 0; second < 200; ++second) {
    Snapshot now;
    now.time = at(second);
    now.devices.push_back(make_device(0));
    if (second >= 60 && second < 82) now.processes.push_back(make_process(4711, 0, "ann", "python train.py"));
    append(*store, now);
  }
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.has_value()) << reader.error().line();
  const auto all = reader->processes({at(0), at(200)}, {});
  ASSERT_TRUE(all.has_value());
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ((*all)[0].first, at(60));
  EXPECT_EQ((*all)[0].last, at(81)) << "not the end of that minute";
}

TEST_F(AHistory, HasCurvesBySecondsTensAndMinutes) {
  const auto seconds = range(0, 100, {kUse});
  EXPECT_EQ(seconds.tier, Tier::raw);
  ASSERT_EQ(seconds.series.size(), 2);
  ASSERT_EQ(seconds.series[0].points.size(), 100);
  EXPECT_EQ(seconds.series[0].points[59].value, 59);
  EXPECT_EQ(seconds.series[1].points[0].value, 50);

  const auto tens = range(0, 600, {kUse}, 10s);
  EXPECT_EQ(tens.tier, Tier::ten_seconds);
  ASSERT_EQ(tens.series[0].points.size(), 60);
  EXPECT_EQ(tens.series[0].points[1].value, 14.5);
  EXPECT_EQ(tens.series[0].points[1].least, 10);
  EXPECT_EQ(tens.series[0].points[1].greatest, 19);

  const auto minutes = range(0, 600, {kUse}, 60s);
  EXPECT_EQ(minutes.tier, Tier::minute);
  ASSERT_EQ(minutes.series[0].points.size(), 10);
  EXPECT_EQ(minutes.series[0].points[3].value, 29.5);
  EXPECT_EQ(minutes.series[0].points[3].greatest, 59);
}

TEST_F(AHistory, GoesUpToTheNewestSample) {
  const auto minutes = range(540, 700, {kUse}, 60s);
  ASSERT_EQ(minutes.series[0].points.size(), 2) << "the minute that is not over is there too";
  EXPECT_EQ(minutes.series[0].points[1].time, at(600));
  EXPECT_EQ(minutes.series[0].points[1].value, 12) << "the mean of 0 to 24";
}

TEST_F(AHistory, MakesCoarserStepsOfFinerOnes) {
  const auto range = this->range(0, 600, {kUse, device_metric("energy_joules")}, 120s);
  EXPECT_EQ(range.step, 120s);
  ASSERT_EQ(range.series.size(), 4);
  EXPECT_EQ(range.series[0].points.size(), 5);
  EXPECT_EQ(range.series[0].points[1].value, 29.5);
  // The first sample has nothing before it to have grown since.
  EXPECT_EQ(range.series[2].points[0].value, 119 * 100);
  EXPECT_EQ(range.series[2].points[1].value, 120 * 100);
}

TEST_F(AHistory, KnowsWhatIsOnlyInTheSamples) {
  const auto range = this->range(0, 600, {device_metric("voltage_graphics_volts")}, 60s);
  EXPECT_EQ(range.tier, Tier::raw);
  ASSERT_EQ(range.series.size(), 2);
  EXPECT_EQ(range.series[0].points.size(), 10);
  EXPECT_NEAR(range.series[0].points[0].value, 0.8, 1e-12);
}

TEST_F(AHistory, ReadsEachMetricFromWhereItIs) {
  auto database = Database::open(path_, Database::Mode::write);
  ASSERT_TRUE(database.has_value());
  ASSERT_TRUE(database->run("DELETE FROM raw WHERE id<=3").has_value());
  const auto range = this->range(0, 700, {device_metric("voltage_graphics_volts"), kUse}, 60s);
  EXPECT_EQ(range.tier, Tier::minute);
  ASSERT_EQ(range.series.size(), 4);
  EXPECT_EQ(range.series[0].points.size(), 5) << "only of the samples that are left, from second 360 on";
  EXPECT_EQ(range.series[0].points[0].time, at(360));
  EXPECT_EQ(range.series[2].points.size(), 11) << "from the minutes, and the one that is not over";
}

TEST_F(AHistory, KnowsWhenWhatHardlyChangesHasChanged) {
  const auto range = this->range(120, 600, {device_metric("power_limit_watts")}, 60s);
  ASSERT_EQ(range.series.size(), 2);
  ASSERT_EQ(range.series[0].points.size(), 2);
  EXPECT_EQ(range.series[0].points[0].value, 700);
  EXPECT_EQ(range.series[0].points[0].time, at(120));
  EXPECT_EQ(range.series[0].points[1].value, 500);
  const auto changes = reader_->changes({at(200), at(600)});
  ASSERT_TRUE(changes.has_value());
  ASSERT_EQ(changes->size(), 2) << "one for each GPU";
  EXPECT_EQ(changes->front().reading, Reading(500));
}

TEST_F(AHistory, KnowsWhoWasThere) {
  const auto all = reader_->processes({at(0), at(700)}, {});
  ASSERT_TRUE(all.has_value()) << all.error().line();
  ASSERT_EQ(all->size(), 2);
  const auto &ann = all->front();
  EXPECT_EQ(ann.pid, 4711);
  EXPECT_EQ(ann.texts[process_metric("user")].value(), "ann");
  EXPECT_EQ(ann.seconds, 120);
  const auto memory = *kept_place(process_metric("gpu_memory_bytes"));
  const auto use = *kept_place(process_metric("gpu_utilization_percent"));
  EXPECT_EQ(ann.values[use].value, 80);
  EXPECT_EQ(ann.values[memory].greatest, 8e9);
  const auto &bob = all->back();
  EXPECT_EQ(bob.seconds, 20) << "of a minute that is not over";
  EXPECT_EQ(bob.values[memory].greatest, 1e9 + 624);
  EXPECT_EQ(bob.last, at(624));

  const auto on_one = reader_->processes({at(0), at(700)}, std::vector{reader_->devices()[1].id});
  ASSERT_TRUE(on_one.has_value());
  ASSERT_EQ(on_one->size(), 1);
  EXPECT_EQ(on_one->front().pid, 4712);
  const auto later = reader_->processes({at(240), at(600)}, {});
  ASSERT_TRUE(later.has_value());
  EXPECT_TRUE(later->empty());
}

TEST_F(AHistory, OfAnEarlierVersionKnowsFewerTexts) {
  reader_.reset();
  {
    auto file = Database::open(path_, Database::Mode::write);
    ASSERT_TRUE(file.has_value()) << file.error().line();
    ASSERT_TRUE(file->run("ALTER TABLE process DROP COLUMN account").has_value());
  }
  auto reader = Reader::open(path_);
  ASSERT_TRUE(reader.has_value()) << reader.error().line();
  const auto all = reader->processes({at(0), at(700)}, {});
  ASSERT_TRUE(all.has_value()) << all.error().line();
  EXPECT_EQ(all->front().texts[process_metric("user")].value(), "ann");
  EXPECT_EQ(all->front().texts[process_metric("command")].value(), "python train.py");
  EXPECT_FALSE(all->front().texts[process_metric("account")]);
}

TEST_F(AHistory, CountsOfAMinuteThatIsCutOnlyWhatIsInside) {
  const auto seconds = [&](double from, double to) {
    const auto all = reader_->processes({at(from), at(to)}, {});
    EXPECT_TRUE(all.has_value()) << all.error().line();
    return all && all->size() == 1 ? all->front().seconds : -1;
  };
  EXPECT_EQ(seconds(70, 100), 30) << "within a minute";
  EXPECT_EQ(seconds(70, 130), 60);
  EXPECT_EQ(seconds(30, 130), 70);
  EXPECT_EQ(seconds(30, 170), 110) << "both ends are cut";
  EXPECT_EQ(seconds(100, 300), 80);
  EXPECT_EQ(seconds(610, 620), 10) << "of a minute that is not over";
}

TEST_F(AHistory, KnowsWhatHappened) {
  const auto events = reader_->events({at(0), at(700)});
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1) << "once, though several samples list it";
  EXPECT_EQ(events->front().code, 79);
  EXPECT_EQ(events->front().device, Text("GPU-1"));
  EXPECT_EQ(events->front().time, at(100));
}

TEST_F(AHistory, GivesBackItsSamples) {
  const auto refs = reader_->samples({at(100), at(400)});
  ASSERT_TRUE(refs.has_value());
  ASSERT_EQ(refs->size(), 300);
  const auto sample = reader_->sample((*refs)[50]);
  ASSERT_TRUE(sample.has_value() && *sample);
  EXPECT_EQ((*sample)->time, at(150));
  EXPECT_EQ((*sample)->origin, Text("HISTORY"));
  ASSERT_EQ((*sample)->devices.size(), 2);
  EXPECT_EQ((*sample)->devices[0].row[kUse], Reading(30));
  ASSERT_EQ((*sample)->processes.size(), 1);
  EXPECT_EQ((*sample)->processes[0].pid, 4711);
}

TEST_F(AHistory, MakesSamplesOfMinutesWhereNoOtherIsLeft) {
  auto database = Database::open(path_, Database::Mode::write);
  ASSERT_TRUE(database.has_value());
  ASSERT_TRUE(database->run("DELETE FROM raw; DELETE FROM raw_tail; DELETE FROM host_10s").has_value());
  const auto refs = reader_->samples({at(0), at(700)});
  ASSERT_TRUE(refs.has_value());
  ASSERT_EQ(refs->size(), 10);
  const auto sample = reader_->sample((*refs)[1]);
  ASSERT_TRUE(sample.has_value() && *sample);
  EXPECT_EQ((*sample)->time, at(60));
  EXPECT_EQ((*sample)->hostname, Text("n1"));
  EXPECT_EQ((*sample)->devices[0].row[kUse], Reading(29.5));
  EXPECT_EQ((*sample)->devices[0].row[device_metric("power_limit_watts")], Reading(700));
  const auto later = reader_->sample((*refs)[6]);
  ASSERT_TRUE(later.has_value() && *later);
  EXPECT_EQ((*later)->devices[0].row[device_metric("power_limit_watts")], Reading(500)) << "since second 300";
  EXPECT_EQ((*sample)->devices[0].identity->name, Text("NVIDIA H200"));
  EXPECT_TRUE((*sample)->devices[0].row[device_metric("energy_joules")].is(Reason::not_sampled));
  ASSERT_EQ((*sample)->processes.size(), 1);
  EXPECT_EQ((*sample)->processes[0].row[process_metric("gpu_utilization_percent")], Reading(80));
  ASSERT_EQ((*sample)->events.get().size(), 1);
  EXPECT_EQ(range(0, 600, {kUse}, 10s).tier, Tier::minute) << "no finer one reaches back";
}

TEST_F(AHistory, TellsHowFarItReaches) {
  const auto coverage = reader_->coverage();
  ASSERT_TRUE(coverage.has_value());
  ASSERT_TRUE(coverage->raw && coverage->minute);
  EXPECT_EQ(coverage->raw->from, at(0));
  EXPECT_EQ(coverage->minute->to, at(600));
}

TEST(ReaderOpen, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_FALSE(Reader::open(folder.path("/none.db")).has_value());
  folder.write("/text.db", "not a database, but longer than the head of one: " + std::string(200, 'x'));
  const auto text = Reader::open(folder.path("/text.db"));
  ASSERT_FALSE(text.has_value());
  EXPECT_NE(text.error().what.str().find("is no database"), std::string::npos);
}

}  // namespace
}  // namespace gpulse::history
