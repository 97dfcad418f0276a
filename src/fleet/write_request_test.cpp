// SPDX-License-Identifier: Apache-2.0
#include "fleet/write_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "fleet/decoded.hpp"

namespace gpulse::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

EncodedLabels labels(const std::vector<Label> &all) { return std::make_shared<const std::string>(encode_labels(all)); }

TEST(WriteRequest, SaysEachSeriesOnceWithItsSamplesInTheOrderOfTime) {
  const auto power = labels({{"__name__", "power"}, {"gpu", "0"}}), heat = labels({{"__name__", "heat"}});
  const std::vector<Step> steps{{.time_ms = 1000, .samples = {{power, 310.5}, {heat, 40}}},
                                {.time_ms = 11000, .samples = {{heat, 41}, {power, -2}}}};
  const auto got = decode_write_request(encode_write_request(steps));
  ASSERT_EQ(got.size(), 2U);
  EXPECT_THAT(got[0].labels, ElementsAre(Pair("__name__", "power"), Pair("gpu", "0")));
  EXPECT_THAT(got[0].samples, ElementsAre(Pair(1000, 310.5), Pair(11000, -2)));
  EXPECT_THAT(got[1].samples, ElementsAre(Pair(1000, 40), Pair(11000, 41)));
}

// The bytes of this message were put together by hand from the specification.
TEST(WriteRequest, IsTheMessageOfTheSpecification) {
  const auto series = labels({{"__name__", "up"}});
  const std::vector<Step> steps{{.time_ms = 300, .samples = {{series, 1}}}};
  const auto body = encode_write_request(steps);
  std::string message;
  ASSERT_TRUE(snappy::Uncompress(body.data(), body.size(), &message));
  using namespace std::string_literals;
  EXPECT_EQ(message,
            "\x0a\x1e"s                                        // timeseries, 30 bytes
            "\x0a\x0e\x0a\x08__name__\x12\x02up"s              // a label
            "\x12\x0c\x09\0\0\0\0\0\0\xf0\x3f\x10\xac\x02"s);  // a sample: 1.0 at 300 ms
}

TEST(WriteRequest, KeepsTheBitsOfWhatEndsASeries) {
  const std::vector<Step> steps{{.time_ms = 1, .samples = {{labels({{"__name__", "up"}}), stale_marker()}}}};
  const auto got = decode_write_request(encode_write_request(steps));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(got.at(0).samples.at(0).second), 0x7ff0000000000002U);
}

TEST(WriteRequest, OfNothingIsAnEmptyMessage) {
  std::string message = "x";
  const auto body = encode_write_request({});
  ASSERT_TRUE(snappy::Uncompress(body.data(), body.size(), &message));
  EXPECT_EQ(message, "");
}

}  // namespace
}  // namespace gpulse::fleet
