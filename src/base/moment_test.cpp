// SPDX-License-Identifier: Apache-2.0
#include "base/moment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace gpulse {
namespace {

using namespace std::chrono_literals;

// The zone in which the clocks of this process run, while it lives.
class Zone {
 public:
  explicit Zone(const char *name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  Zone(const Zone &) = delete;
  Zone &operator=(const Zone &) = delete;
  ~Zone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

// As the zone's rule, for machines without a list of zones.
constexpr const char *kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

// date -ud '2026-11-16 12:00:00' +%s; 13:00 in Berlin.
const WallTime kNow{1794830400s};

// As ISO 8601 in UTC, "none" for what is no moment.
std::string parsed(std::string_view text, WallTime now = kNow, std::optional<WallTime> after = std::nullopt) {
  const auto moment = parse_moment(text, now, after);
  return moment ? iso8601_utc(*moment) : "none";
}

struct Case {
  const char *text;
  const char *utc;
};

TEST(Moment, LocalTimeUnlessAnOffsetIsGiven) {
  const Zone zone(kBerlin);
  for (const auto &[text, utc] : {
           Case{"now", "2026-11-16T12:00:00.000Z"},
           Case{"NOW", "2026-11-16T12:00:00.000Z"},
           Case{"-3h", "2026-11-16T09:00:00.000Z"},
           Case{"-90m", "2026-11-16T10:30:00.000Z"},
           Case{"-1.5", "2026-11-16T11:59:58.500Z"},
           Case{"-7d", "2026-11-09T12:00:00.000Z"},
           Case{"@1794709878.73", "2026-11-15T02:31:18.730Z"},
           Case{"2026-11-16 01:00", "2026-11-16T00:00:00.000Z"},
           Case{"2026-11-16T01:00", "2026-11-16T00:00:00.000Z"},
           Case{"2026-11-16  01:00:30.25", "2026-11-16T00:00:30.250Z"},
           Case{"2026-07-01 01:00", "2026-06-30T23:00:00.000Z"},
           Case{"2026-11-16", "2026-11-15T23:00:00.000Z"},
           Case{"2026-11-15 24:00", "2026-11-15T23:00:00.000Z"},
           Case{"2026-11-16T01:00:00Z", "2026-11-16T01:00:00.000Z"},
           Case{"2026-11-16t01:00z", "2026-11-16T01:00:00.000Z"},
           Case{"2026-11-16 01:00 UTC", "2026-11-16T01:00:00.000Z"},
           Case{"2026-11-16T01:00:00+02:00", "2026-11-15T23:00:00.000Z"},
           Case{"2026-11-16 01:00 -0530", "2026-11-16T06:30:00.000Z"},
           Case{"2026-11-16 01:00+2", "2026-11-15T23:00:00.000Z"},
           Case{"today", "2026-11-15T23:00:00.000Z"},
           Case{"today 9:15", "2026-11-16T08:15:00.000Z"},
           Case{"yesterday", "2026-11-14T23:00:00.000Z"},
           Case{"Yesterday 18:00", "2026-11-15T17:00:00.000Z"},
           Case{"yesterday 18:00Z", "2026-11-15T18:00:00.000Z"},
           Case{" 01:00 ", "2026-11-16T00:00:00.000Z"},
           Case{"2000-02-29 00:00Z", "2000-02-29T00:00:00.000Z"},
       }) {
    EXPECT_EQ(parsed(text), utc) << text;
  }
}

TEST(Moment, ATimeOfTheDayAloneIsTheLastOne) {
  const Zone zone(kBerlin);
  EXPECT_EQ(parsed("13:00"), "2026-11-16T12:00:00.000Z") << "now itself";
  EXPECT_EQ(parsed("13:01"), "2026-11-15T12:01:00.000Z");
  EXPECT_EQ(parsed("12:30Z"), "2026-11-15T12:30:00.000Z");
  EXPECT_EQ(parsed("24:00"), "2026-11-15T23:00:00.000Z");
  // Half past midnight in Berlin, still yesterday in UTC.
  const WallTime night{1794785400s};
  EXPECT_EQ(parsed("today 00:10", night), "2026-11-15T23:10:00.000Z");
  EXPECT_EQ(parsed("23:50", night), "2026-11-15T22:50:00.000Z");
  EXPECT_EQ(parsed("today 00:10Z", night), "2026-11-15T00:10:00.000Z");
}

TEST(Moment, OrTheFirstOneAfterAnother) {
  const Zone zone(kBerlin);
  const auto from = parse_moment("yesterday 22:00", kNow);
  EXPECT_EQ(parsed("23:00", kNow, from), "2026-11-15T22:00:00.000Z");
  EXPECT_EQ(parsed("02:00", kNow, from), "2026-11-16T01:00:00.000Z");
  EXPECT_EQ(parsed("22:00", kNow, from), "2026-11-16T21:00:00.000Z") << "a day later";
  EXPECT_EQ(parsed("2026-11-16 22:30", kNow, from), "2026-11-16T21:30:00.000Z");
  EXPECT_EQ(parsed("now", kNow, from), "2026-11-16T12:00:00.000Z");
}

// On 2026-03-29 Berlin goes from 02:00 to 03:00, on 2026-10-25 from 03:00 back to 02:00, both at 01:00 UTC.
TEST(Moment, HoursThatComeTwiceOrNotAtAll) {
  const Zone zone(kBerlin);
  EXPECT_EQ(parsed("2026-10-25 01:59"), "2026-10-24T23:59:00.000Z");
  EXPECT_EQ(parsed("2026-10-25 02:00"), "2026-10-25T00:00:00.000Z") << "the first of the two";
  EXPECT_EQ(parsed("2026-10-25 02:30"), "2026-10-25T00:30:00.000Z");
  EXPECT_EQ(parsed("2026-10-25 03:00"), "2026-10-25T02:00:00.000Z");
  EXPECT_EQ(parsed("2026-10-25 02:30+01:00"), "2026-10-25T01:30:00.000Z") << "the second";
  EXPECT_EQ(parsed("2026-03-29 01:59"), "2026-03-29T00:59:00.000Z");
  EXPECT_EQ(parsed("2026-03-29 02:30"), "2026-03-29T01:30:00.000Z") << "shown as 03:30";
  EXPECT_EQ(parsed("2026-03-29 03:00"), "2026-03-29T01:00:00.000Z");
}

TEST(Moment, RefusesWhatIsNone) {
  const Zone zone(kBerlin);
  for (const auto *text : {"",
                           " ",
                           "soon",
                           "1",
                           "13",
                           "1:0",
                           "25:00",
                           "24:01",
                           "12:60",
                           "12:00:60",
                           "12:00:00.",
                           "12:00:00.1234567890",
                           "2026",
                           "2026-11",
                           "2026-11-",
                           "2026-02-29",
                           "2026-13-01",
                           "2026-00-01",
                           "2026-1-1",
                           "1969-12-31",
                           "9999-01-01",
                           "2026-11-16x",
                           "2026-11-16T",
                           "2026-11-16 x",
                           "2026-11-16 01:00 x",
                           "12:00+",
                           "12:00+25:00",
                           "12:00+01:",
                           "12:00 CEST",
                           "yesterday18:00",
                           "yesterdayT18:00",
                           "tomorrow",
                           "--3h",
                           "-",
                           "-x",
                           "- 3h",
                           "@",
                           "@x",
                           "@-1",
                           "@1e30",
                           "@nan",
                           "now now",
                           "now-3h",
                           "01:00 yesterday",
                           "２６:00"}) {
    EXPECT_EQ(parsed(text), "none") << '"' << text << '"';
  }
}

TEST(Moment, AnythingMayBeAsked) {
  const Zone zone("<+0545>-5:45");
  std::uint64_t state = 1;
  constexpr std::string_view kLetters = "0123456789:-+ TZ.@nowyesterday";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int j = 0; j < 20; ++j) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      text += kLetters[(state >> 33U) % kLetters.size()];
      (void)parse_moment(text, kNow);
    }
  }
}

TEST(Moment, WhatLocalClocksShowLeadsBack) {
  for (const auto *name :
       {kBerlin, "NST3:30NDT,M3.2.0,M11.1.0", "<+0545>-5:45", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "UTC"}) {
    const Zone zone(name);
    // Every 17 minutes of 2026; a moment in a repeated hour leads to the first of the two.
    for (WallTime time{1767225600s}; time < WallTime{1798761600s}; time += 17min) {
      const auto back =
          from_local(std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()) + utc_offset(time));
      EXPECT_TRUE(back == time || (back < time && time - back <= 1h)) << name << ' ' << iso8601_utc(time);
    }
  }
}

}  // namespace
}  // namespace gpulse
