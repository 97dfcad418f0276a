// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "model/snapshot.hpp"

namespace gpulse {
namespace {

TEST(Reading, WhatIsNotFiniteIsOutOfRange) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN(), Limits::infinity(),
                             -Limits::infinity(), 0.0 * Limits::infinity()}) {
    EXPECT_TRUE(Reading(value).is(Reason::out_of_range)) << value;
  }
  EXPECT_EQ(Reading(Limits::max()).value(), Limits::max());
  EXPECT_EQ(Reading(Limits::denorm_min()).value(), Limits::denorm_min());
}

TEST(Reading, IsANumberOrAReason) {
  const Reading none;
  EXPECT_FALSE(none.has_value());
  EXPECT_TRUE(none.is(Reason::not_sampled));
  EXPECT_EQ(none.value_or(7), 7);
  const Reading zero = 0.0;
  EXPECT_TRUE(zero.has_value());
  EXPECT_EQ(zero.value(), 0);
  EXPECT_FALSE(zero.is(Reason::not_sampled));
  EXPECT_NE(zero, none);
  EXPECT_NE(Reading(Reason::error, 1), Reading(Reason::error, 2));
  EXPECT_EQ(Reading(1.5), Reading(1.5));
}

TEST(Reading, ReasonsAsText) {
  EXPECT_EQ(text(Reason::not_sampled), "not sampled yet");
  EXPECT_EQ(text(Reason::not_supported), "not supported");
  EXPECT_EQ(text(Reason::no_permission), "no permission");
  EXPECT_EQ(text(Reason::asleep), "asleep");
  EXPECT_EQ(text(Reason::lost), "lost");
  EXPECT_EQ(text(Reason::not_responding), "not responding");
  EXPECT_EQ(text(Reason::out_of_range), "error: value out of range");
  EXPECT_EQ(text(Reason::reset_required), "error: device requires a reset");
  EXPECT_EQ(text(Reason::deprecated), "deprecated by the driver");
  EXPECT_EQ(text(Reason::error), "error");
  EXPECT_EQ(reason_text(Reading(Reason::error, 999)), "error: driver code 999");
}

TEST(Row, EveryNumberStartsWithItsReason) {
  Row row(Scope::host, Reason::not_supported);
  EXPECT_EQ(row.readings().size(), number_count(Scope::host));
  for (const auto &reading : row.readings()) EXPECT_TRUE(reading.is(Reason::not_supported));
  row[host_metric("cpu_percent")] = 12.5;
  EXPECT_EQ(row[host_metric("cpu_percent")].value(), 12.5);
  EXPECT_TRUE(row[host_metric("cpu_count")].is(Reason::not_supported));
  row.fill(Reason::lost);
  EXPECT_EQ(row, Row(Scope::host, Reason::lost));
}

TEST(TextRow, HoldsTextsOrReasons) {
  TextRow texts(Scope::process, Reason::lost);
  EXPECT_EQ(texts.texts().size(), text_count(Scope::process));
  EXPECT_EQ(texts[process_metric("user")].reason(), Reason::lost);
  EXPECT_EQ(texts[process_metric("user")].value_or("-"), "-");
  texts[process_metric("user")] = std::string("root");
  EXPECT_EQ(texts[process_metric("user")].value(), "root");
  EXPECT_NE(texts, TextRow(Scope::process, Reason::lost));
}

TEST(Words, StatesAndTypes) {
  EXPECT_EQ(word(DeviceState::ok), "ok");
  EXPECT_EQ(word(DeviceState::not_responding), "not responding");
  EXPECT_EQ(type_word(0), "unknown");
  EXPECT_EQ(type_word(1), "compute");
  EXPECT_EQ(type_word(3), "compute+graphics");
  EXPECT_EQ(type_word(4), "mps");
}

}  // namespace
}  // namespace gpulse
