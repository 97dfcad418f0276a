// SPDX-License-Identifier: Apache-2.0
// One host of a fleet, told by an engine that a test makes up.
#include "serve/watched_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/testing.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HostOfAFleet : public ::testing::Test {
 protected:
  std::unique_ptr<WatchedHost> open(WatchedHostOptions more = {}) {
    more.engine = engine_.options();
    more.host.instance = "n1:9837";
    more.host.name = "n1";
    more.version = "1";
    return std::make_unique<WatchedHost>(std::move(more), asks_, timer_);
  }
  static http::Response ask(WatchedHost &host, const std::string &target) {
    return testing::ask(
        [&](const http::Request &request, const http::Answer &answer) { host.handle(request, true, answer); }, target);
  }
  static std::string text(WatchedHost &host, const std::string &target) { return body_of(ask(host, target)); }
  // The number behind the first "name":
  static double number(const std::string &json, const std::string &name) {
    const auto place = json.find("\"" + name + "\":");
    return place == std::string::npos ? -1 : std::atof(json.c_str() + place + name.size() + 3);
  }
  static double now() { return seconds_of(wall_now()); }

  FakeEngine engine_;
  Timer timer_;
  SharedAsks<http::Response> asks_;
};

MadeSeries finding_of(const MadeHost &host, const std::string &name, double since) {
  return host.series("gpulse_finding", {{"uuid", "GPU-0"}, {"finding", name}, {"severity", "problem"}},
                     [since](double time) { return time >= since ? std::optional(1.0) : std::nullopt; });
}

TEST_F(HostOfAFleet, OneThatIsSilentIsAsOldAsItsLastSample) {
  const double end = now() - 3 * 3600;
  engine_.set(MadeHost{.end = end}.all());
  WatchedHostOptions options;
  options.host.last = WallTime(std::chrono::seconds(std::llround(end)));
  const auto host = open(std::move(options));
  const auto hello = text(*host, "/api/v1/stream");
  EXPECT_NEAR(number(hello, "age_seconds"), 3 * 3600, 60);
  const auto snapshot = ask(*host, "/api/v1/snapshot");
  const auto age = std::ranges::find(snapshot.headers, "X-Gpulse-Sample-Age", &http::Fields::value_type::first);
  ASSERT_NE(age, snapshot.headers.end());
  EXPECT_NEAR(std::stod(age->second), 3 * 3600, 60);
  const auto about = text(*host, "/api/v1/about");
  EXPECT_THAT(about, HasSubstr(R"("trouble":"the engine has nothing new of n1")"));
  EXPECT_THAT(about, AllOf(Not(HasSubstr("silent_seconds")), Not(HasSubstr("last_sample"))))
      << "what it was when somebody first looked is wrong by now";
}

TEST_F(HostOfAFleet, TellsHowFarApartItsSamplesAre) {
  engine_.set(MadeHost{.every = 60}.all());
  const auto host = open({.interval = 1s});
  EXPECT_EQ(number(text(*host, "/api/v1/stream"), "interval_seconds"), 60);
}

TEST_F(HostOfAFleet, IsAskedNoMoreOftenThanItSays) {
  engine_.set(MadeHost{.every = 5}.all());
  const auto host = open({.interval = 15s});
  EXPECT_EQ(number(text(*host, "/api/v1/stream"), "interval_seconds"), 15);
}

TEST_F(HostOfAFleet, OfAFindingItSaysSinceWhenAndNotHowSure) {
  const MadeHost made{};
  const double since = now() - 2 * 3600;
  auto all = made.all();
  all.push_back(finding_of(made, "input-cpu", since));
  all.push_back(finding_of(made, "memory-leak", 0));
  all.push_back(finding_of(made, "of-tomorrow", since - 3600));
  engine_.set(std::move(all));
  const auto host = open();
  const auto told = text(*host, "/api/v1/findings");
  const auto part = [&](const std::string &what) { return told.substr(told.find(what)); };
  EXPECT_NEAR(number(part(R"("id":"input-cpu")"), "since_seconds"), -2 * 3600, 90);
  EXPECT_NEAR(number(part(R"("id":"unknown")"), "since_seconds"), -3 * 3600, 90);
  EXPECT_THAT(part(R"("id":"memory-leak")"), HasSubstr(R"("since":null,"since_seconds":null)")) << "for over a day";
  EXPECT_THAT(told, AllOf(HasSubstr(R"("confidence":null)"), Not(HasSubstr(R"("confidence":1)"))));
}

TEST_F(HostOfAFleet, WhatTheEngineDoesNotTellIsNotInvented) {
  const MadeHost made{};
  auto all = made.all();
  all.push_back(finding_of(made, "input-cpu", 0));
  engine_.set(std::move(all));
  engine_.refuse("max by (uuid,finding)");
  const auto host = open();
  EXPECT_THAT(text(*host, "/api/v1/findings"), HasSubstr(R"("since":null)"));
}

TEST_F(HostOfAFleet, SaysWhyNothingComesOnceItHadSomething) {
  engine_.set(MadeHost{}.all());
  const auto host = open({.interval = 50ms});
  EXPECT_EQ(ask(*host, "/api/v1/snapshot").status, 200);
  EXPECT_THAT(text(*host, "/api/v1/about"), HasSubstr(R"("trouble":null)"));
  engine_.refuse("gpulse_sample_timestamp_seconds");
  std::string about;
  for (int i = 0; i < 100 && !about.contains("no such thing"); ++i) {
    std::this_thread::sleep_for(20ms);
    about = text(*host, "/api/v1/about");
  }
  EXPECT_THAT(about, HasSubstr("refused the query: no such thing"));
}

}  // namespace
}  // namespace gpulse::serve
