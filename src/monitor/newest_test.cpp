// SPDX-License-Identifier: Apache-2.0
#include "monitor/newest.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "monitor/testing.hpp"

namespace gpulse::monitor {
namespace {

SamplePtr numbered(std::uint64_t number) {
  auto sample = std::make_unique<Sample>();
  sample->number = number;
  sample->step = static_cast<std::int64_t>(number);
  sample->ids.push_back(std::to_string(number));
  return SamplePtr(sample.release());
}

TEST(Newest, IsNothingBeforeTheFirst) { EXPECT_FALSE(Newest().take()); }

TEST(Newest, IsTheLastThatWasPublished) {
  Newest newest;
  newest.publish(numbered(1));
  newest.publish(numbered(2));
  EXPECT_EQ(newest.take()->number, 2U);
  EXPECT_EQ(newest.take()->number, 2U);
}

TEST(Newest, CanBeTakenBack) {
  Newest newest;
  newest.publish(numbered(1));
  newest.publish({});
  EXPECT_FALSE(newest.take());
}

// The sampler uses the memory of older snapshots again, once nobody holds them.
TEST(Newest, LetsGoOfOlderOnes) {
  Newest newest;
  const SnapshotPtr snapshot = std::make_shared<Snapshot>();
  {
    auto sample = std::make_unique<Sample>();
    sample->snapshot = snapshot;
    newest.publish(SamplePtr(sample.release()));
  }
  EXPECT_EQ(snapshot.use_count(), 2);
  newest.publish(numbered(2));
  EXPECT_EQ(snapshot.use_count(), 1);
}

TEST(Newest, AHeldSampleStaysAsItIs) {
  Newest newest;
  newest.publish(numbered(1));
  const auto held = newest.take();
  for (std::uint64_t i = 2; i < 20; ++i) newest.publish(numbered(i));
  EXPECT_EQ(held->number, 1U);
  EXPECT_EQ(held->ids, std::vector<std::string>{"1"});
}

TEST(Newest, ManyReadersSeeWholeSamplesInOrder) {
  constexpr std::uint64_t kSamples = 20'000;
  Newest newest;
  std::atomic<std::uint64_t> broken{0}, seen{0};
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 6; ++i) {
      readers.emplace_back([&] {
        std::vector<SamplePtr> held;  // some are kept for a while
        for (std::uint64_t last = 0; last < kSamples;) {
          auto sample = newest.take();
          if (!sample) continue;
          const bool whole = sample->ids.size() == 1 && sample->ids[0] == std::to_string(sample->number) &&
                             sample->step == static_cast<std::int64_t>(sample->number);
          if (!whole || sample->number < last) ++broken;
          last = sample->number;
          if (++seen % 7 == 0) held.push_back(std::move(sample));
          if (held.size() > 50) held.clear();
        }
      });
    }
    for (std::uint64_t i = 1; i <= kSamples; ++i) newest.publish(numbered(i));
  }
  EXPECT_EQ(broken, 0U);
  EXPECT_GE(seen, 6U);
}

}  // namespace
}  // namespace gpulse::monitor
