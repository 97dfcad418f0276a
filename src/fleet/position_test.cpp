// SPDX-License-Identifier: Apache-2.0
#include "fleet/position.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"

namespace gpulse::fleet {
namespace {

const Position kPosition{.url = "https://metrics.example/api/v1/write",
                         .time = WallTime(std::chrono::nanoseconds(1'795'000'000'123'000'000)),
                         .taken = 12'345'678'901,
                         .refused = 7};

TEST(Position, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  const auto path = folder.path("/h.db.remote-write");
  EXPECT_EQ(read_position(path), std::nullopt);
  ASSERT_TRUE(write_position(path, kPosition));
  EXPECT_EQ(read_position(path), kPosition);
}

TEST(Position, IsTextThatPeopleCanRead) {
  EXPECT_EQ(position_text(kPosition),
            "gpulse remote write 1\nurl https://metrics.example/api/v1/write\ntime 1795000000123000000\n"
            "taken 12345678901\nrefused 7\n");
}

TEST(Position, WhatIsCutShortOrChangedIsNone) {
  const auto whole = position_text(kPosition);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(parse_position(std::string_view(whole).substr(0, i)), std::nullopt) << i;
  }
  for (const auto *text : {"gpulse remote write 2\nurl a\ntime 1\ntaken 1\nrefused 1\n",
                           "gpulse remote write 1\nurl a\ntime x\ntaken 1\nrefused 1\n",
                           "gpulse remote write 1\nurl a\ntime 1\ntaken -1\nrefused 1\n",
                           "gpulse remote write 1\nurl a\ntime 99999999999999999999\ntaken 1\nrefused 1\n"}) {
    EXPECT_EQ(parse_position(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gpulse::fleet
