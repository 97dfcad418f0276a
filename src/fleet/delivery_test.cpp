// SPDX-License-Identifier: Apache-2.0
// Steps are brought to engines that take them, do not take some, or are away.
#include "fleet/delivery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fleet/decoded.hpp"
#include "fleet/write_request.hpp"

namespace gpulse::fleet {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using Key = std::pair<std::string, std::int64_t>;  // series and time

// Steps a second apart, with series "0", "1", …
std::vector<Step> make_steps(int count, int series) {
  std::vector<EncodedLabels> labels;
  for (int i = 0; i < series; ++i) {
    labels.push_back(
        std::make_shared<const std::string>(encode_labels(std::vector<Label>{{"__name__", std::to_string(i)}})));
  }
  std::vector<Step> steps;
  for (int i = 1; i <= count; ++i) {
    Step step{.time_ms = i * 1000LL, .samples = {}};
    for (const auto &each : labels) step.samples.push_back({each, static_cast<double>(i)});
    steps.push_back(std::move(step));
  }
  return steps;
}

// One that takes all of a request or nothing, as Prometheus does.
struct Engine {
  std::function<bool(const Key &)> refuses = [](const Key &) { return false; };
  std::size_t largest = 1'000'000;  // samples
  int away_after = 1'000'000;       // requests
  int requests = 0;
  std::set<Key> has{};
  int twice = 0;

  Answer take(const std::string &body) {
    if (++requests > away_after) return {.verdict = Verdict::later, .words = "away"};
    std::vector<Key> all;
    for (const auto &series : decode_write_request(body)) {
      for (const auto &[time, value] : series.samples) all.emplace_back(series.labels.at("__name__"), time);
    }
    if (all.size() > largest) return {.verdict = Verdict::too_large, .words = "too large"};
    if (std::ranges::any_of(all, refuses)) return {.verdict = Verdict::refused, .words = "too old"};
    for (const auto &key : all) twice += has.insert(key).second ? 0 : 1;
    return {.verdict = Verdict::taken};
  }
  Delivered deliver(std::span<const Step> steps) {
    return fleet::deliver(steps, [this](const std::string &body) { return take(body); });
  }
};

TEST(Delivery, AllAtOnceWhereTheEngineTakesIt) {
  Engine engine;
  const auto done = engine.deliver(make_steps(10, 5));
  EXPECT_EQ(done.steps, 10U);
  EXPECT_EQ(done.taken, 50U);
  EXPECT_EQ(engine.requests, 1);
  EXPECT_THAT(engine.has, SizeIs(50));
}

TEST(Delivery, OneBadSeriesCostsNoOther) {
  Engine engine{.refuses = [](const Key &key) { return key.first == "37"; }};
  const auto done = engine.deliver(make_steps(4, 100));
  EXPECT_EQ(done.steps, 4U);
  EXPECT_EQ(done.taken, 4U * 99);
  EXPECT_EQ(done.refused, 4U);
  EXPECT_THAT(engine.has, SizeIs(4 * 99));
  EXPECT_EQ(engine.twice, 0);
  EXPECT_EQ(done.refusal->words, "too old");
}

TEST(Delivery, WhatIsTooOldIsPassedByAndTheRestArrives) {
  Engine engine{.refuses = [](const Key &key) { return key.second <= 200'000; }};
  const auto done = engine.deliver(make_steps(300, 60));
  EXPECT_EQ(done.steps, 300U);
  EXPECT_EQ(done.refused, 200U * 60);
  EXPECT_EQ(done.taken, 100U * 60);
  EXPECT_THAT(engine.has, SizeIs(100 * 60));
  // Not a request for each of 12,000 samples.
  EXPECT_LT(engine.requests, 200 * 8);
}

TEST(Delivery, AnEngineThatTakesLittleAtATimeGetsItInParts) {
  Engine engine{.largest = 40};
  const auto done = engine.deliver(make_steps(8, 100));
  EXPECT_EQ(done.taken, 800U);
  EXPECT_EQ(done.refused, 0U);
  EXPECT_EQ(engine.twice, 0);
}

// In order: what is behind the place where it stopped was not sent.
TEST(Delivery, StopsWhereTheEngineGoesAwayAndGoesOnFromThere) {
  for (int after = 0; after < 40; ++after) {
    Engine engine{.refuses = [](const Key &key) { return key == Key{"3", 5000}; }, .away_after = after};
    const auto steps = make_steps(9, 7);
    const auto first = engine.deliver(steps);
    EXPECT_EQ(first.stopped.has_value(), first.steps < 9);
    engine.away_after = 1'000'000;
    const auto second = engine.deliver(std::span(steps).subspan(first.steps));
    EXPECT_EQ(first.steps + second.steps, 9U);
    EXPECT_EQ(first.taken + second.taken, 62U) << after;
    EXPECT_EQ(first.refused + second.refused, 1U) << after;
    EXPECT_THAT(engine.has, SizeIs(62));
  }
}

TEST(Delivery, NothingIsNothing) {
  Engine engine;
  EXPECT_EQ(engine.deliver({}).steps, 0U);
  EXPECT_EQ(engine.requests, 0);
}

}  // namespace
}  // namespace gpulse::fleet
