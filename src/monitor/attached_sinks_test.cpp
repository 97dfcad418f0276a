// SPDX-License-Identifier: Apache-2.0
#include "monitor/attached_sinks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "monitor/testing.hpp"

namespace gpulse::monitor {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What came of it: seconds of the samples' time, with the step where there was one.
struct Written {
  std::vector<std::string> lines{};
  bool closed = false;
};

enum class Mood : std::uint8_t { good, fails, throws };

class FakeSink final : public sink::Sink {
 public:
  FakeSink(Written &written, Mood mood) : written_(written), mood_(mood) {}

  Result<void> write(const Snapshot &snapshot, std::optional<std::int64_t> step) override {
    if (mood_ == Mood::throws) throw std::runtime_error("a bug");
    if (mood_ == Mood::fails) return failure("the disk is full");
    auto line = std::to_string(snapshot.time.time_since_epoch() / 1s);
    if (step) line += " step " + std::to_string(*step);
    written_.lines.push_back(std::move(line));
    return {};
  }
  Result<void> flush() override { return {}; }
  Result<void> close() override {
    written_.closed = true;
    if (mood_ == Mood::throws) throw std::runtime_error("a bug");
    return {};
  }
  std::string place() const override { return {}; }
  std::uint64_t size() const override { return 0; }

 private:
  Written &written_;
  Mood mood_;
};

SamplePtr sample_at(std::chrono::seconds at, std::optional<std::int64_t> step = {}) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = WallTime(at);
  auto sample = std::make_unique<Sample>();
  sample->at = Monotonic(at);
  sample->snapshot = std::move(snapshot);
  sample->step = step;
  return SamplePtr(sample.release());
}

class AttachedSinksTest : public ::testing::Test {
 protected:
  void add(Written &written, bool steps_may_come, Mood mood = Mood::good) {
    sinks_.add(std::make_unique<FakeSink>(written, mood), steps_may_come);
  }
  void write(std::chrono::seconds from, std::chrono::seconds to) {
    for (auto at = from; at <= to; ++at) sinks_.write(sample_at(at));
  }

  Written one_, other_;
  AttachedSinks sinks_;
};

TEST_F(AttachedSinksTest, EverySampleIsWrittenAtOnce) {
  add(one_, false);
  sinks_.write(sample_at(1s));
  sinks_.write(sample_at(2s, 7));
  sinks_.write(sample_at(3s));
  EXPECT_THAT(one_.lines, ElementsAre("1", "2 step 7", "3"));
}

TEST_F(AttachedSinksTest, OneThatComesLaterHasWhatComesAfterIt) {
  sinks_.write(sample_at(1s));
  add(one_, false);
  sinks_.write(sample_at(2s));
  EXPECT_THAT(one_.lines, ElementsAre("2"));
}

TEST_F(AttachedSinksTest, SamplesAreHeldBackUntilAStepComesAndThenLeftOut) {
  add(one_, true);
  write(1s, 30s);
  EXPECT_THAT(one_.lines, IsEmpty());
  sinks_.write(sample_at(31s, 0));
  sinks_.write(sample_at(32s));
  EXPECT_THAT(one_.lines, ElementsAre("31 step 0", "32"));
  sinks_.close();
  EXPECT_EQ(one_.lines.size(), 2U);
}

TEST_F(AttachedSinksTest, WithoutAStepInAMinuteTheyAreWritten) {
  add(one_, true);
  write(1s, 60s);
  EXPECT_THAT(one_.lines, IsEmpty());
  sinks_.write(sample_at(61s));
  ASSERT_EQ(one_.lines.size(), 61U);
  EXPECT_EQ(one_.lines.front(), "1");
  EXPECT_EQ(one_.lines.back(), "61");
  sinks_.write(sample_at(62s));
  EXPECT_EQ(one_.lines.back(), "62");
  // A step may still come.
  sinks_.write(sample_at(63s, 5));
  EXPECT_EQ(one_.lines.back(), "63 step 5");
}

TEST_F(AttachedSinksTest, TheyAreWrittenWhenItEndsBeforeThat) {
  add(one_, true);
  write(1s, 2s);
  sinks_.close();
  EXPECT_THAT(one_.lines, ElementsAre("1", "2"));
  EXPECT_TRUE(one_.closed);
}

TEST_F(AttachedSinksTest, NoMoreThanSixHundredAreHeld) {
  add(one_, true);
  for (int i = 0; i < 599; ++i) sinks_.write(sample_at(1s));
  EXPECT_THAT(one_.lines, IsEmpty());
  sinks_.write(sample_at(1s));
  EXPECT_EQ(one_.lines.size(), 600U);
}

TEST_F(AttachedSinksTest, EachDecidesForItself) {
  add(one_, true);
  add(other_, false);
  sinks_.write(sample_at(1s));
  EXPECT_THAT(one_.lines, IsEmpty());
  EXPECT_THAT(other_.lines, ElementsAre("1"));
}

class FailingSinksTest : public AttachedSinksTest, public ::testing::WithParamInterface<Mood> {};

TEST_P(FailingSinksTest, DoNotStopTheOthers) {
  Written bad, held;
  EXPECT_EQ(sinks_.problem(), "");
  add(bad, false, GetParam());
  add(held, true, GetParam());
  add(one_, false);
  add(other_, true);
  write(1s, 2s);
  EXPECT_THAT(one_.lines, ElementsAre("1", "2"));
  EXPECT_EQ(sinks_.problem(), GetParam() == Mood::fails ? "the disk is full" : "a bug");
  sinks_.close();
  EXPECT_THAT(other_.lines, ElementsAre("1", "2"));
  EXPECT_TRUE(bad.closed && held.closed && one_.closed && other_.closed);
}

INSTANTIATE_TEST_SUITE_P(Moods, FailingSinksTest, ::testing::Values(Mood::fails, Mood::throws));

TEST(MonitorSinks, OneThatThrowsDoesNotStopTheSamples) {
  FakeMachine machine;
  Written bad, good;
  {
    Monitor monitor({.interval = 10ms}, machine.opener());
    monitor.sinks().add(std::make_unique<FakeSink>(bad, Mood::throws), false);
    monitor.sinks().add(std::make_unique<FakeSink>(good, Mood::good), false);
    EXPECT_TRUE(monitor.wait(monitor.stats().samples + 5, monotonic_now() + 10s).sample);
    EXPECT_EQ(monitor.sinks().problem(), "a bug");
  }
  EXPECT_GE(good.lines.size(), 5U);
  EXPECT_TRUE(good.closed);
}

// As long as a disk takes to answer.
class SlowSink final : public sink::Sink {
 public:
  SlowSink(std::timed_mutex &disk, std::atomic<const Snapshot *> &written) : disk_(disk), written_(written) {}
  Result<void> write(const Snapshot &snapshot, std::optional<std::int64_t>) override {
    const std::lock_guard lock(disk_);
    written_ = &snapshot;
    return {};
  }
  Result<void> flush() override { return {}; }
  Result<void> close() override { return {}; }
  std::string place() const override { return {}; }
  std::uint64_t size() const override { return 0; }

 private:
  std::timed_mutex &disk_;
  std::atomic<const Snapshot *> &written_;
};

TEST(MonitorSinks, ASlowOneKeepsNobodyWaiting) {
  FakeMachine machine;
  const auto disk = std::make_unique<std::timed_mutex>();
  std::atomic<const Snapshot *> written = nullptr;
  Monitor monitor({.interval = 1h}, machine.opener());
  ASSERT_TRUE(monitor.wait(0, monotonic_now() + 10s).sample);
  monitor.sinks().add(std::make_unique<SlowSink>(*disk, written), false);
  const auto before = monitor.refresh(monotonic_now() + 10s).sample;
  ASSERT_TRUE(before);
  // The one before is done with.
  const auto until = monotonic_now() + 10s;
  while (written != before->snapshot.get() && monotonic_now() < until) std::this_thread::sleep_for(1ms);
  ASSERT_EQ(written, before->snapshot.get());
  std::unique_lock busy(*disk);
  EXPECT_TRUE(monitor.refresh(monotonic_now() + 10s).sample);
  busy.unlock();
}

}  // namespace
}  // namespace gpulse::monitor
