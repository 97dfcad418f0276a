// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace gpulse {
namespace {

using namespace std::chrono_literals;

std::optional<std::chrono::nanoseconds> parsed(std::string_view text) {
  std::chrono::nanoseconds value{};
  if (!parse_duration(text, value)) return std::nullopt;
  return value;
}

TEST(Duration, UnitsAndPlainSeconds) {
  EXPECT_EQ(parsed("500ms"), 500ms);
  EXPECT_EQ(parsed("20us"), 20us);
  EXPECT_EQ(parsed("2s"), 2s);
  EXPECT_EQ(parsed("1.5"), 1500ms);
  EXPECT_EQ(parsed("0.1"), 100ms);
  EXPECT_EQ(parsed("3m"), 3min);
  EXPECT_EQ(parsed("1h"), 1h);
  EXPECT_EQ(parsed("1.5d"), 36h);
  EXPECT_EQ(parsed("0"), 0s);
}

TEST(Duration, RefusesWhatIsNone) {
  for (const auto *text :
       {"", "s", "ms", "-1", "-1s", "1w", "1 s", "s1", "nan", "inf", "infs", "1e30", "1e9h", "1s2"}) {
    EXPECT_EQ(parsed(text), std::nullopt) << text;
  }
}

TEST(Iso8601, MillisecondsInUtc) {
  EXPECT_EQ(iso8601_utc(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso8601_utc(WallTime{1s + 999'999'999ns}), "1970-01-01T00:00:01.999Z");
  // date -ud @1794709878
  EXPECT_EQ(iso8601_utc(WallTime{1794709878s + 730ms}), "2026-11-15T02:31:18.730Z");
  EXPECT_EQ(iso8601_utc(WallTime{951782400s}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(iso8601_utc(WallTime{-1ms}), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace gpulse
