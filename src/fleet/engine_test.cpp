// SPDX-License-Identifier: Apache-2.0
// The client of engines against a server that answers as they do, and as others do.
#include "fleet/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fleet/testing.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeEngine;
using ::testing::HasSubstr;
using testing::Said;

EngineError error_of(Said said, http::ClientOptions client = {}) {
  FakeEngine fake(std::move(said));
  auto answer = fake.engine("", std::move(client)).instant("up", WallTime{});
  return answer ? EngineError{} : answer.error();
}

TEST(EngineUrl, IsWhatStandsBeforeTheApi) {
  const auto text = [](const char *url) { return parse_engine_url(url)->text(); };
  EXPECT_EQ(text("http://p:9090"), "http://p:9090/");
  EXPECT_EQ(text("https://m.example/prometheus/"), "https://m.example/prometheus");
  EXPECT_EQ(text("https://m.example/select/0/prometheus/api/v1/query"), "https://m.example/select/0/prometheus");
  EXPECT_EQ(text("http://p:9090/api/v1/write"), "http://p:9090/");
  EXPECT_EQ(text("http://p/x/?tenant=7"), "http://p/x?tenant=7");
  EXPECT_FALSE(parse_engine_url("prometheus:9090"));
}

TEST(Engine, AsksInTheBodyOfThePost) {
  FakeEngine fake;
  ASSERT_TRUE(fake.engine("/prom?tenant=7").range("a{b=\"c d\"}", WallTime(1000s), WallTime(2000500ms), 60s));
  const auto asked = fake.asked();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].method, http::Method::post);
  EXPECT_EQ(asked[0].path, "/prom/api/v1/query_range");
  EXPECT_EQ(asked[0].parameter("tenant"), "7");
  EXPECT_EQ(asked[0].header("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(asked[0].body,
            "query=a%7Bb%3D%22c%20d%22%7D&start=1000.000&end=2000.500&step=60&timeout=30000ms&nocache=1");
}

TEST(Engine, HasSeriesAndTheValuesOfLabels) {
  FakeEngine sets({.body = R"({"status":"success","data":[{"instance":"a"}]})"});
  EXPECT_EQ(sets.engine().series("up", WallTime{}, WallTime(1s))->front().label("instance"), "a");
  EXPECT_EQ(sets.asked()[0].body, "match%5B%5D=up&start=0.000&end=1.000");
  FakeEngine words({.body = R"({"status":"success","data":["a","b"]})"});
  EXPECT_THAT(*words.engine().label_values("in stance", "up", WallTime{}, WallTime(1s)), ElementsAre("a", "b"));
  EXPECT_EQ(words.asked()[0].method, http::Method::get);
  EXPECT_EQ(words.asked()[0].path, "/api/v1/label/in stance/values");
}

TEST(Engine, TellsWhatWentWrong) {
  const auto refused = error_of({.status = 401, .body = "go away"});
  EXPECT_EQ(refused.fault, EngineFault::refused);
  EXPECT_THAT(refused.error.line(), HasSubstr("answered 401"));
  EXPECT_EQ(error_of({.status = 403}).fault, EngineFault::refused);
  EXPECT_EQ(error_of({.status = 404, .body = "not found"}).fault, EngineFault::no_engine);
  EXPECT_EQ(error_of({.body = "<html>Welcome</html>"}).fault, EngineFault::no_engine);
  EXPECT_EQ(error_of({.status = 502, .body = "<html>Bad gateway</html>"}).fault, EngineFault::away);
  EXPECT_EQ(error_of({.status = 504, .body = "<html>Gateway time-out</html>"}).fault, EngineFault::too_late)
      << "the question, not the engine";
  EXPECT_EQ(error_of({.status = 429, .body = "slow down"}).fault, EngineFault::too_much);
  const auto moved = error_of({.status = 302, .body = "", .headers = {{"Location", "https://login/"}}});
  EXPECT_EQ(moved.fault, EngineFault::no_engine);
  EXPECT_THAT(moved.error.line(), HasSubstr("https://login/"));
}

TEST(Engine, KeepsAKeyInItsAddressToItself) {
  const FakeEngine fake({.status = 404, .body = "not found"});
  const auto error = fake.engine("/p?apikey=SECRET").instant("up", WallTime{}).error().error.line();
  EXPECT_THAT(error, HasSubstr("/p is no engine"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("SECRET")));
}

TEST(Engine, HasTheEnginesOwnWords) {
  const auto said = [](int status, const std::string &type, const std::string &words) {
    return error_of(
        {.status = status, .body = R"({"status":"error","errorType":")" + type + R"(","error":")" + words + R"("})"});
  };
  const auto bad = said(400, "bad_data", "parse error: \\u001b[31munexpected");
  EXPECT_EQ(bad.fault, EngineFault::bad_query);
  EXPECT_THAT(bad.error.line(), HasSubstr("parse error:  [31munexpected"));
  // As Prometheus 2.42 and VictoriaMetrics 1.79.5 say it.
  EXPECT_EQ(said(422, "execution", "query processing would load too many samples into memory in query execution").fault,
            EngineFault::too_much);
  EXPECT_EQ(said(400, "bad_data", "exceeded maximum resolution of 11,000 points per timeseries.").fault,
            EngineFault::too_much);
  EXPECT_EQ(said(422, "422",
                 "the number of matching timeseries exceeds 300000; either narrow down the search or increase "
                 "-search.max* command-line flag values at vmselect")
                .fault,
            EngineFault::too_much);
  const auto wordy = said(422, "422",
                          "error when executing query: " + std::string(3000, 'q') +
                              ": the number of matching timeseries exceeds 300000; -search.maxUniqueTimeseries");
  EXPECT_EQ(wordy.fault, EngineFault::too_much);
  EXPECT_LT(wordy.error.line().size(), 500U);
  EXPECT_THAT(wordy.error.line(), HasSubstr("matching timeseries exceeds"));
  EXPECT_EQ(said(503, "timeout", "query timed out in expression evaluation").fault, EngineFault::too_late);
  EXPECT_EQ(said(503, "503", "timeout exceeded during query execution: 30.000 seconds").fault, EngineFault::too_late);
}

TEST(Engine, IsNotWaitedForLongerThanAllowed) {
  const auto begun = monotonic_now();
  const auto late = error_of({.pause = 2s}, {.total_time = 200ms});
  EXPECT_EQ(late.fault, EngineFault::too_late);
  EXPECT_THAT(late.error.line(), HasSubstr("did not answer within 0.2 s"));
  EXPECT_LT(monotonic_now() - begun, 4s);
  Engine nobody({.url = *parse_engine_url("http://127.0.0.1:1")});
  EXPECT_EQ(nobody.instant("up", WallTime{}).error().fault, EngineFault::away);
}

TEST(Engine, IsStopped) {
  FakeEngine fake({.pause = 1s});
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  const auto begun = monotonic_now();
  EXPECT_FALSE(fake.engine().instant("up", WallTime{}, stop.get_token()));
  EXPECT_LT(monotonic_now() - begun, 700ms);
}

TEST(Engine, IsNotListenedToForEver) {
  const auto long_one = error_of({.body = std::string(100'000, ' ')}, {.most_bytes = 10'000});
  EXPECT_EQ(long_one.fault, EngineFault::too_much);
  EXPECT_THAT(long_one.error.line(), HasSubstr("too large"));
}

TEST(Engine, RemembersThatSomethingIsMissing) {
  FakeEngine fake({.body = R"({"status":"success","isPartial":true,"data":[]})"});
  auto engine = fake.engine();
  ASSERT_TRUE(engine.instant("up", WallTime{}));
  EXPECT_EQ(engine.warning(), "the answer is partial");
}

TEST(Quoting, LeavesNoWayOut) { EXPECT_EQ(quoted("a\"b\\c\nd"), R"("a\"b\\c\nd")"); }

}  // namespace
}  // namespace gpulse::fleet
