// SPDX-License-Identifier: Apache-2.0
#include "monitor/findings.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "insight/needs.hpp"
#include "monitor/testing.hpp"

namespace gpulse::monitor {
namespace {

using namespace testing;
using insight::FindingId;

constexpr auto kStart = 1'000'000s;  // on the machine's clock

// Nobody is on it.
SnapshotPtr make_idle(std::chrono::nanoseconds at) {
  auto device = make_device(0, "GPU-0");
  device.row[kUtilization] = 0.0;
  device.row[kProcessCount] = 0.0;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = WallTime(at);
  snapshot->devices = {std::move(device)};
  return snapshot;
}

void add_seconds(Findings &findings, std::chrono::seconds from, std::chrono::seconds to, const auto &make) {
  for (auto at = from; at <= to; at += 1s) findings.add(make(kStart + at));
}

const KnownFinding *find(const FindingListPtr &list, FindingId id) {
  const auto found = std::ranges::find(list->findings, id, [](const KnownFinding &known) { return known.finding.id; });
  return found == list->findings.end() ? nullptr : &*found;
}

TEST(Findings, SayNothingBeforeEnoughWasSeen) {
  Findings findings(1s);
  EXPECT_EQ(findings.current()->samples, 0U);
  add_seconds(findings, 0s, 9s, [](auto at) { return make_hung(at); });
  EXPECT_EQ(findings.current()->samples, 0U);
  EXPECT_TRUE(findings.current()->findings.empty());
}

TEST(Findings, AFindingKeepsItsNumberWhileItLasts) {
  Findings findings(1s);
  add_seconds(findings, 0s, 20s, [](auto at) { return make_hung(at); });
  const auto first = findings.current();
  const auto *hung = find(first, FindingId::hung);
  ASSERT_NE(hung, nullptr);
  EXPECT_NE(hung->number, 0U);
  EXPECT_EQ(hung->finding.since, WallTime(kStart));
  EXPECT_EQ(hung->finding.pids, std::vector<std::uint32_t>{4711});
  EXPECT_EQ(hung->ids, std::vector<std::string>{"0"});
  EXPECT_EQ(hung->uuids, std::vector<std::string>{"GPU-0"});
  EXPECT_EQ(first->verdict, FindingId::hung);

  add_seconds(findings, 21s, 120s, [](auto at) { return make_hung(at); });
  const auto later = findings.current();
  ASSERT_NE(find(later, FindingId::hung), nullptr);
  EXPECT_EQ(find(later, FindingId::hung)->number, hung->number);
  EXPECT_EQ(find(later, FindingId::hung)->finding.since, WallTime(kStart));

  add_seconds(findings, 121s, 200s, [](auto at) { return make_idle(at); });
  EXPECT_TRUE(findings.current()->findings.empty());
  EXPECT_GT(findings.current()->samples, 0U);  // which says that all is well
  add_seconds(findings, 201s, 300s, [](auto at) { return make_hung(at); });
  ASSERT_NE(find(findings.current(), FindingId::hung), nullptr);
  EXPECT_GT(find(findings.current(), FindingId::hung)->number, hung->number);
  EXPECT_EQ(hung->finding.pids.size(), 1U);  // the first list has not changed
}

TEST(Findings, SlowSamplesAreJudgedToo) {
  Findings findings(60s);
  for (auto at = 0s; at < 3600s; at += 60s) findings.add(make_hung(kStart + at));
  EXPECT_NE(find(findings.current(), FindingId::hung), nullptr);
}

TEST(Findings, FastSamplesCostNoMoreThanFiveASecond) {
  Findings findings(10ms);
  for (auto at = 0ms; at < 20s; at += 10ms) findings.add(make_hung(kStart + at));
  ASSERT_NE(find(findings.current(), FindingId::hung), nullptr);
  EXPECT_LE(findings.current()->samples, 5U * 20U + 1);
}

TEST(Findings, ManyDevicesAreJudgedByFewerSamples) {
  Findings findings(100ms);
  for (auto at = 0ms; at < 60s; at += 100ms) {
    auto snapshot = std::make_shared<Snapshot>(*make_hung(kStart + at));
    for (std::uint32_t i = 1; i < 128; ++i) snapshot->devices.push_back(make_device(i, "GPU-" + std::to_string(i)));
    findings.add(snapshot);
  }
  EXPECT_NE(find(findings.current(), FindingId::hung), nullptr);
  EXPECT_LT(findings.current()->samples, 30U);
}

TEST(Findings, AStretchIsJudgedByItself) {
  Findings findings(1s);
  EXPECT_FALSE(findings.judge(30s));
  add_seconds(findings, 0s, 60s, [](auto at) { return make_hung(at); });
  add_seconds(findings, 61s, 80s, [](auto at) { return make_idle(at); });
  const auto last = findings.judge(15s);
  ASSERT_TRUE(last);
  EXPECT_EQ((*last)->verdict, FindingId::idle);
  ASSERT_EQ((*last)->findings.size(), 1U);
  EXPECT_EQ((*last)->findings[0].number, 0U);
  EXPECT_EQ((*last)->from, WallTime(kStart + 65s));
  EXPECT_EQ((*last)->to, WallTime(kStart + 80s));
  EXPECT_EQ((*last)->samples, 16U);
  // More than there is.
  EXPECT_EQ((*findings.judge(1h))->from, WallTime(kStart));
}

TEST(Findings, TooShortAStretchIsNotJudged) {
  Findings findings(1s);
  add_seconds(findings, 0s, 2s, [](auto at) { return make_hung(at); });
  const auto judged = findings.judge(30s);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().line(), "too little was seen to judge: watch for at least 3 s");
}

TEST(Findings, AClockThatIsSetBackBeginsAnew) {
  Findings findings(1s);
  add_seconds(findings, 100s, 130s, [](auto at) { return make_hung(at); });
  add_seconds(findings, 0s, 5s, [](auto at) { return make_hung(at); });
  EXPECT_EQ((*findings.judge(100s))->from, WallTime(kStart));
}

// As a sample that is no longer the newest is not shown either.
TEST(Findings, AreNotShownWhenSamplesStop) {
  Findings findings(1s);
  ASSERT_TRUE(findings.begin());
  add_seconds(findings, 0s, 20s, [](auto at) { return make_hung(at); });
  const auto number = find(findings.current(), FindingId::hung)->number;
  findings.withdraw();
  EXPECT_TRUE(findings.current()->findings.empty());
  EXPECT_FALSE(findings.judge(30s));
  add_seconds(findings, 21s, 30s, [](auto at) { return make_hung(at); });
  EXPECT_EQ(find(findings.current(), FindingId::hung)->number, number);
}

TEST(Findings, KnowNoUuidOfADeviceThatHasNone) {
  Findings findings(1s);
  add_seconds(findings, 0s, 20s, [](auto at) {
    auto snapshot = std::make_shared<Snapshot>(*make_hung(at));
    snapshot->devices[0].identity = nullptr;
    return snapshot;
  });
  ASSERT_NE(find(findings.current(), FindingId::hung), nullptr);
  EXPECT_EQ(find(findings.current(), FindingId::hung)->uuids, std::vector<std::string>{""});
}

// What the feeds of a monitor were told to read.
class MonitorFindings : public ::testing::Test {
 protected:
  OpenFeed opener() {
    return [this, open = machine_.opener()](const feed::Options &options, const std::stop_token &stop) {
      const std::lock_guard lock(mutex_);
      read_.push_back(options.only.value());
      return open(options, stop);
    };
  }
  std::vector<MetricSet> read() {
    const std::lock_guard lock(mutex_);
    return read_;
  }
  static bool has_needs(MetricSet set) {
    const auto before = set;
    set.add(insight::needs_of_findings());
    return set == before;
  }
  static auto soon() { return monotonic_now() + 10s; }

  FakeMachine machine_;
  std::mutex mutex_;
  std::vector<MetricSet> read_;
};

TEST_F(MonitorFindings, NothingMoreIsReadForWhoNeverAsks) {
  Monitor monitor({.interval = 1ms}, opener());
  ASSERT_TRUE(monitor.wait(20, soon()).sample);
  EXPECT_EQ(read().size(), 1U);
  EXPECT_FALSE(has_needs(read().front()));
}

TEST_F(MonitorFindings, TheFirstQuestionMakesItReadWhatTheRulesNeed) {
  Monitor monitor({.interval = 1h, .metrics = {kPower}}, opener());
  const auto first = monitor.wait(0, soon()).sample;
  ASSERT_TRUE(first);
  EXPECT_EQ(monitor.findings()->samples, 0U);
  // At once, not in an hour.
  ASSERT_TRUE(monitor.wait(first->number, soon()).sample);
  EXPECT_EQ(monitor.findings()->samples, 0U);
  ASSERT_TRUE(monitor.refresh(soon()).sample);
  ASSERT_EQ(read().size(), 2U);
  EXPECT_TRUE(has_needs(read().back()));
  EXPECT_TRUE(read().back().contains(kPower));
  EXPECT_EQ(monitor.stats().missed, 0U);
}

TEST_F(MonitorFindings, FromTheStartWhereThatIsWanted) {
  Monitor monitor({.interval = 1h, .findings = true}, opener());
  ASSERT_TRUE(monitor.wait(0, soon()).sample);
  monitor.findings();
  ASSERT_TRUE(monitor.refresh(soon()).sample);
  EXPECT_EQ(read().size(), 1U);
  EXPECT_TRUE(has_needs(read().front()));
}

TEST_F(MonitorFindings, WhatAnAgentHasSeenBeforeCounts) {
  machine_.change([](auto &state) {
    state.from_agent = true;
    const auto now = wall_now().time_since_epoch();
    for (auto ago = 60s; ago >= 1s; ago -= 1s) state.past.push_back(make_hung(now - ago));
  });
  Monitor monitor({.interval = 5s}, opener());
  monitor.findings();
  const auto end = soon();
  while (monitor.findings()->findings.empty() && monotonic_now() < end) std::this_thread::sleep_for(1ms);
  const auto list = monitor.findings();
  const auto *hung = find(list, FindingId::hung);
  ASSERT_NE(hung, nullptr);
  EXPECT_EQ(hung->uuids, std::vector<std::string>{"GPU-0"});
}

TEST_F(MonitorFindings, ManyThreadsAskWhileSamplesCome) {
  Monitor monitor({.interval = 1ms}, opener());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 200; ++turn) {
          EXPECT_NE(monitor.findings(), nullptr);
          EXPECT_FALSE(monitor.diagnose(30s));
        }
      });
    }
  }
  ASSERT_TRUE(monitor.wait(20, soon()).sample);
  EXPECT_LE(read().size(), 2U);
}

}  // namespace
}  // namespace gpulse::monitor
