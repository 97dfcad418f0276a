// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "monitor/testing.hpp"
#include "sim/testing/sim_library.hpp"

namespace gpulse::monitor {
namespace {

using namespace testing;

Monotonic soon(std::chrono::nanoseconds time = 10s) { return monotonic_now() + time; }

double watts(const SamplePtr &sample) { return sample->snapshot->devices.at(0).row[kPower].value(); }

class MonitorTest : public ::testing::Test {
 protected:
  std::unique_ptr<Monitor> open(std::chrono::nanoseconds interval) {
    return std::make_unique<Monitor>(Options{.interval = interval}, machine_.opener());
  }
  void set_watts(double watts) {
    machine_.change([&](auto &state) { state.watts = watts; });
  }

  FakeMachine machine_;
};

TEST_F(MonitorTest, SamplesComeInOrder) {
  const auto monitor = open(5ms);
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const auto waited = monitor->wait(last, soon());
    ASSERT_TRUE(waited.sample);
    EXPECT_GT(waited.sample->number, last);
    last = waited.sample->number;
  }
  EXPECT_GE(monitor->latest()->number, last);
}

TEST_F(MonitorTest, ManyWaitersNeverGetAnOldOne) {
  const auto monitor = open(1ms);
  std::atomic<int> wrong{0};
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      std::uint64_t last = 0;
      for (int turn = 0; turn < 200; ++turn) {
        const auto waited = monitor->wait(last, soon());
        if (!waited.sample || waited.sample->number <= last) {
          ++wrong;
          return;
        }
        last = waited.sample->number;
      }
    });
  }
  waiters.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(MonitorTest, AWaitEndsInTime) {
  const auto monitor = open(1h);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  const auto begun = monotonic_now();
  const auto waited = monitor->wait(1, soon(20ms));
  EXPECT_FALSE(waited.sample);
  EXPECT_FALSE(waited.ended);
  EXPECT_LT(monotonic_now() - begun, 5s);
  EXPECT_FALSE(monitor->wait(1, monotonic_now() - 1h).sample);
}

TEST_F(MonitorTest, ARefreshShowsWhatIsTrueNow) {
  const auto monitor = open(1h);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  for (double i = 1; i <= 50; ++i) {
    set_watts(i);
    const auto waited = monitor->refresh(soon());
    ASSERT_TRUE(waited.sample);
    EXPECT_EQ(watts(waited.sample), i);
  }
}

TEST_F(MonitorTest, ManyRefreshesAtOnceShareSamples) {
  const auto monitor = open(1h);
  std::vector<std::jthread> threads;
  std::atomic<int> served{0};
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) served += monitor->refresh(soon()).sample ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(served, 16 * 50);
  EXPECT_LE(monitor->stats().samples, 16 * 50 + 1);
}

// The agent's newest sample is from before the question.
TEST_F(MonitorTest, ARefreshIsNotAnsweredByWhatAnAgentHadLyingThere) {
  machine_.change([](auto &state) {
    state.from_agent = true;
    state.age = 1s;
  });
  const auto monitor = open(1h);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  EXPECT_FALSE(monitor->refresh(soon(50ms)).sample);
  machine_.change([](auto &state) { state.age = 0s; });
  EXPECT_TRUE(monitor->refresh(soon()).sample);
}

TEST_F(MonitorTest, WhenSamplesStopTheLastOneIsNotShownAsTheNewest) {
  const auto monitor = open(5ms);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  machine_.change([](auto &state) { state.fails = true; });
  for (const auto end = soon(); monitor->latest() && monotonic_now() < end;) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(monitor->latest());
  const auto waited = monitor->wait(0, soon(10ms));
  EXPECT_FALSE(waited.sample);
  EXPECT_EQ(waited.problem, "the cable is out");
}

TEST_F(MonitorTest, AnExceptionDoesNotEndTheProgram) {
  const auto monitor = open(5ms);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  machine_.change([](auto &state) { state.throws = true; });
  for (const auto end = soon(); monitor->latest() && monotonic_now() < end;) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(monitor->latest());
  EXPECT_EQ(monitor->wait(0, soon(10ms)).problem, "a bug");
}

TEST_F(MonitorTest, ClosingEndsTheWaitsOfOthers) {
  auto monitor = open(1h);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  std::atomic<int> waiting{0};
  std::vector<std::jthread> threads;
  std::atomic<int> ended{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, &one = *monitor] {
      ++waiting;
      ended += one.wait(1, soon(60s)).ended ? 1 : 0;
    });
  }
  while (waiting < 4) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  const auto begun = monotonic_now();
  monitor.reset();
  EXPECT_LT(monotonic_now() - begun, 5s);
  threads.clear();
  EXPECT_EQ(ended, 4);
}

TEST_F(MonitorTest, SamplesAndRegionsOutliveIt) {
  auto monitor = open(5ms);
  set_watts(300);
  const auto sample = monitor->wait(2, soon()).sample;
  const auto region = monitor->begin_region("step");
  const auto table = monitor->history({});
  monitor.reset();
  region->end(monotonic_now());
  EXPECT_EQ(sample->snapshot->devices.size(), 1U);
  EXPECT_TRUE(region->use("GPU-0"));
  EXPECT_FALSE(region->use("GPU-0")->settled);
  EXPECT_GE(table.rows, 2U);
  EXPECT_FALSE(sample->json().empty());
}

TEST_F(MonitorTest, ManyThreadsSetTheStep) {
  const auto monitor = open(1ms);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  EXPECT_FALSE(monitor->latest()->step);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        for (int step = 0; step < 1000; ++step) monitor->set_step(i * 1000 + step);
      });
  }
  monitor->set_step(4711);
  EXPECT_EQ(monitor->refresh(soon()).sample->step, 4711);
  monitor->set_step(-1);
  EXPECT_FALSE(monitor->refresh(soon()).sample->step);
}

TEST_F(MonitorTest, RegionsOfManyThreadsGetTheirSamples) {
  const auto monitor = open(1ms);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  std::atomic<int> known{0}, settled{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 200; ++turn) {
          const auto outer = monitor->begin_region("outer");
          const auto inner = monitor->begin_region("inner");  // thrown away while the monitor may be adding to it
          outer->end(monotonic_now());
          known += outer->use("GPU-0").has_value() ? 1 : 0;
          if (turn % 50 != 0) continue;
          while (!outer->use("GPU-0")->settled) std::this_thread::sleep_for(1ms);
          ++settled;
        }
      });
    }
  }
  EXPECT_EQ(known, 800);
  EXPECT_EQ(settled, 16);
}

TEST_F(MonitorTest, DevicesComeAndGo) {
  const auto monitor = open(1h);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  machine_.change([](auto &state) { state.uuids = {"GPU-7", "GPU-0"}; });
  EXPECT_EQ(find_device(*monitor->refresh(soon()).sample, "GPU-0").value(), 1U);
  machine_.change([](auto &state) { state.uuids = {}; });
  EXPECT_FALSE(find_device(*monitor->refresh(soon()).sample, "GPU-0"));
}

TEST_F(MonitorTest, ADescriptorBecomesReadableWithASample) {
  const auto monitor = open(1h);
  ASSERT_TRUE(monitor->wait(0, soon()).sample);
  const int descriptor = monitor->subscribe();
  ASSERT_GE(descriptor, 0);
  pollfd asked{.fd = descriptor, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&asked, 1, 0), 0);
  ASSERT_TRUE(monitor->refresh(soon()).sample);
  EXPECT_EQ(::poll(&asked, 1, 5000), 1);
  monitor->unsubscribe(descriptor);
  monitor->unsubscribe(descriptor);  // closes nothing that somebody else may have opened meanwhile
}

TEST_F(MonitorTest, KnowsWhoseSampleItIs) {
  const auto monitor = open(1h);
  EXPECT_FALSE(monitor->wait(0, soon()).sample->from_agent);
  machine_.change([](auto &state) { state.from_agent = true; });
  ASSERT_TRUE(monitor->refresh(soon()).sample);
  EXPECT_TRUE(monitor->stats().from_agent);
}

// Through the driver's library, as a program would.
TEST(MonitorOnSimulator, ShowsTheScenario) {
  ASSERT_EQ(sim::library().call<int>("gpulse_sim_load", "[[device]]\nprofile = \"h200\"\ncount = 2\npower_w = 321\n"),
            0);
  Monitor monitor({.interval = 50ms, .metrics = default_metrics(), .agent = false});
  const auto waited = monitor.wait(1, soon());
  ASSERT_TRUE(waited.sample) << waited.problem;
  const auto &devices = waited.sample->snapshot->devices;
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1].row[kPower], Reading(321.0));
  EXPECT_GT(monitor.stats().driver_calls, 0U);
  EXPECT_GT(monitor.stats().processor.count(), 0);
}

}  // namespace
}  // namespace gpulse::monitor
