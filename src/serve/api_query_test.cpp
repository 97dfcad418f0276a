// SPDX-License-Identifier: Apache-2.0
#include "serve/api_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr WallTime kNow{std::chrono::seconds(1'794'800'000)};

http::Request asking(http::Fields query) { return {.path = "/api/v1/x", .query = std::move(query)}; }

WallTime unix_time(std::int64_t seconds, std::chrono::milliseconds more = 0ms) {
  return WallTime(std::chrono::seconds(seconds) + more);
}

TEST(ApiQuery, ReadsTimesInBothForms) {
  EXPECT_EQ(api_time("1700000000"), unix_time(1'700'000'000));
  EXPECT_EQ(api_time("1700000000.25"), unix_time(1'700'000'000, 250ms));
  // date -u -d @1700000000: 2023-11-14 22:13:20
  EXPECT_EQ(api_time("2023-11-14T22:13:20Z"), unix_time(1'700'000'000));
  EXPECT_EQ(api_time("2023-11-14T22:13:20.250Z"), unix_time(1'700'000'000, 250ms));
  EXPECT_EQ(api_time("2023-11-15T00:13:20+02:00"), unix_time(1'700'000'000));
  EXPECT_EQ(api_time("2023-11-15T00:13:20 02:00"), unix_time(1'700'000'000));
  for (const auto *text : {"", "now", "yesterday", "-1", "1e30", "nan", "inf", "2023-11-14T22:13:20", "2023-11-14",
                           "2023-13-14T22:13:20Z", "9999-11-14T22:13:20Z", "12:00", "-3h", "17000x"}) {
    EXPECT_EQ(api_time(text), std::nullopt) << text;
  }
}

TEST(ApiQuery, ReadsASpan) {
  const auto both = asked_history(asking({{"from", "1700000000"}, {"to", "1700003600"}}), kNow);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->span.from, unix_time(1'700'000'000));
  EXPECT_EQ(both->span.to, unix_time(1'700'003'600));
  EXPECT_EQ(both->points, 1000);
  const auto since = asked_history(asking({{"since", "12h"}, {"step", "10s"}}), kNow);
  ASSERT_TRUE(since.has_value());
  EXPECT_EQ(since->span.from, kNow - 12h);
  EXPECT_EQ(since->span.to, kNow);
  EXPECT_EQ(since->step, 10s);
}

struct Bad {
  http::Fields query;
  std::string_view field;
};

TEST(ApiQuery, NamesTheFieldThatIsWrong) {
  const http::Fields good{{"since", "1h"}};
  const auto with = [&](std::string name, std::string value) {
    auto query = good;
    query.emplace_back(std::move(name), std::move(value));
    return query;
  };
  std::string many = "power_draw_watts";
  for (int i = 0; i < 64; ++i) many += ",power_draw_watts";
  for (const auto &[query, field] : std::initializer_list<Bad>{
           {{}, "from"},
           {{{"to", "1700000000"}}, "from"},
           {{{"from", "x"}}, "from"},
           {{{"from", "1700000000"}, {"to", "1600000000"}}, "from"},
           {{{"from", "1700000000"}, {"since", "1h"}}, "since"},
           {{{"since", "-1h"}}, "since"},
           {{{"since", "99999999d"}}, "since"},
           {with("to", "tomorrow"), "to"},
           {with("metrics", "no_such_metric"), "metrics"},
           {with("metrics", "power_draw_watts,,"), "metrics"},
           {with("metrics", "process.user"), "metrics"},
           {with("metrics", "serial_number"), "metrics"},
           {with("metrics", many), "metrics"},
           {with("devices", ","), "devices"},
           {with("step", "0"), "step"},
           {with("step", "0.5"), "step"},
           {with("step", "-5"), "step"},
           {with("points", "0"), "points"},
           {with("points", "20001"), "points"},
           {with("points", "1e3"), "points"},
           {with("metric", "power_draw_watts"), "metric"},
           {with("since", "2h"), "since"},
           {{{"since", "365d"}, {"step", "1"}}, "step"},
           {{{"since", "1h"}, {"step", "1"}, {"points", "5"}}, "step"},
       }) {
    const auto asked = asked_history(asking(query), kNow);
    ASSERT_FALSE(asked.has_value()) << field;
    EXPECT_EQ(asked.error().status, 400);
    EXPECT_EQ(asked.error().field, field) << asked.error().message;
  }
}

TEST(ApiQuery, QuotesHostileTextSafelyAndShortly) {
  const auto asked =
      asked_history(asking({{"since", "1h"}, {"metrics", "\x1b[31m\"<script>" + std::string(5000, 'x')}}), kNow);
  ASSERT_FALSE(asked.has_value());
  EXPECT_LT(asked.error().message.size(), 200U);
  EXPECT_EQ(asked.error().message.find('\x1b'), std::string::npos);
}

TEST(ApiQuery, ChoosesWhatOfASampleIsWanted) {
  const auto all = asked_sample(asking({}));
  ASSERT_TRUE(all.has_value());
  EXPECT_FALSE(all->metrics.has_value());
  EXPECT_TRUE(all->processes);
  const auto some = asked_sample(
      asking({{"metrics", "power_draw_watts,host.cpu_percent,process.*"}, {"devices", "0,GPU-1"}, {"processes", "0"}}));
  ASSERT_TRUE(some.has_value());
  EXPECT_TRUE(some->metrics->contains(device_metric("power_draw_watts")));
  EXPECT_TRUE(some->metrics->contains(host_metric("cpu_percent")));
  EXPECT_TRUE(some->metrics->contains(process_metric("user")));
  EXPECT_FALSE(some->metrics->contains(device_metric("gpu_utilization_percent")));
  EXPECT_THAT(some->devices, ::testing::ElementsAre("0", "GPU-1"));
  EXPECT_FALSE(some->processes);
  EXPECT_EQ(asked_sample(asking({{"processes", "maybe"}})).error().field, "processes");
  EXPECT_EQ(asked_sample(asking({{"metrics", "nothing.*"}})).error().field, "metrics");
}

TEST(ApiQuery, AddsUpOnlyOverASpan) {
  EXPECT_EQ(asked_processes(asking({{"by", "user"}}), kNow).error().field, "by");
  EXPECT_EQ(asked_processes(asking({{"by", "group"}, {"since", "1h"}}), kNow).error().field, "by");
  EXPECT_EQ(asked_processes(asking({{"by", "job"}, {"since", "1h"}}), kNow)->by, view::HistoryOwner::job);
  EXPECT_FALSE(asked_processes(asking({}), kNow)->span.has_value());
}

}  // namespace
}  // namespace gpulse::serve
