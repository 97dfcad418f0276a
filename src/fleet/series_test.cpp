// SPDX-License-Identifier: Apache-2.0
#include "fleet/series.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "fleet/decoded.hpp"
#include "fleet/write_request.hpp"

namespace gpulse::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

std::vector<Written> read(std::vector<Sample> samples) {
  const std::vector<Step> steps{{.time_ms = 1, .samples = std::move(samples)}};
  return decode_write_request(encode_write_request(steps));
}

bool is_end(const Written &series) {
  return std::bit_cast<std::uint64_t>(series.samples.at(0).second) == 0x7ff0000000000002U;
}

TEST(Series, ALineIsTakenApart) {
  SeriesLine line;
  ASSERT_TRUE(parse_series(R"(power{gpu="0:1",user="a \"b\" \\ c\nd"} -1.5e3)", line));
  EXPECT_EQ(line.key, R"(power{gpu="0:1",user="a \"b\" \\ c\nd"})");
  EXPECT_THAT(line.labels, ElementsAre(Pair("__name__", "power"), Pair("gpu", "0:1"), Pair("user", "a \"b\" \\ c\nd")));
  EXPECT_EQ(line.value, -1500);
  ASSERT_TRUE(parse_series("up 1", line));
  EXPECT_THAT(line.labels, ElementsAre(Pair("__name__", "up")));
}

TEST(Series, WhatIsNoSeriesIsPassedOver) {
  SeriesLine line;
  for (const auto *text : {"", "# HELP up x", "up", "{a=\"b\"} 1", "up 1x", "up{a=\"b\" 1", "up{a=\"b\"}1",
                           "up{a=\"b\\", "up{a} 1", " 1"}) {
    EXPECT_FALSE(parse_series(text, line)) << text;
  }
}

TEST(Series, LabelsAreSortedAndTheirsIsNeverOurs) {
  SeriesTable table({{"job", "gpulse"}, {"instance", "n1:9837"}, {"cluster", "a"}});
  const auto got = read(table.take("power{uuid=\"GPU-a\",cluster=\"of the series\"} 1\n"));
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_THAT(got[0].order, ElementsAre("__name__", "cluster", "instance", "job", "uuid"));
  EXPECT_EQ(got[0].labels.at("cluster"), "of the series");
}

TEST(Series, AnEmptyLabelIsNone) {
  SeriesTable table({});
  EXPECT_THAT(read(table.take("owner{user=\"\",uuid=\"GPU-a\"} 1\n")).at(0).labels,
              ElementsAre(Pair("__name__", "owner"), Pair("uuid", "GPU-a")));
}

TEST(Series, WhatIsNotThereAnyMoreEndsOnce) {
  SeriesTable table({});
  EXPECT_THAT(table.take("a 1\nb 2\n"), SizeIs(2));
  const auto got = read(table.take("b 3\n"));
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_EQ(got[0].samples[0].second, 3);
  EXPECT_EQ(got[1].labels.at("__name__"), "a");
  EXPECT_TRUE(is_end(got[1]));
  EXPECT_THAT(table.take("b 3\n"), SizeIs(1));
  const auto last = read(table.end_all());
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_TRUE(is_end(last[0]));
  EXPECT_THAT(table.end_all(), IsEmpty());
}

TEST(Series, TheSameTwiceInATextIsTakenOnce) {
  SeriesTable table({});
  EXPECT_THAT(read(table.take("a{x=\"1\"} 1\na{x=\"1\"} 2\n")), SizeIs(1));
}

}  // namespace
}  // namespace gpulse::fleet
