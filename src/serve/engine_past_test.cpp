// SPDX-License-Identifier: Apache-2.0
// What was of a host, told by an engine that a test makes up.
#include "serve/engine_past.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "serve/api.hpp"
#include "serve/testing.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PastOfAHost : public ::testing::Test {
 protected:
  // What the host's newest sample has.
  void post(const std::vector<std::string> &uuids) {
    auto sample = std::make_shared<Snapshot>();
    sample->time = wall_now();
    for (std::uint32_t i = 0; i < uuids.size(); ++i) {
      auto identity = std::make_shared<DeviceIdentity>();
      identity->uuid = uuids[i];
      Device device{.id = {.index = i}, .identity = std::move(identity)};
      sample->devices.push_back(std::move(device));
    }
    board_.post(sample);
  }
  // Of the hour before the last.
  static std::string past(const std::string &what, const std::string &more = "") {
    const auto from = std::chrono::floor<std::chrono::seconds>(wall_now() - 2h).time_since_epoch().count();
    return fmt::format("/api/v1/{}?from={}&to={}{}", what, from, from + 3600, more);
  }
  http::Response ask(const std::string &target, std::chrono::nanoseconds patience = 5s,
                     std::chrono::nanoseconds whole = 30s) {
    if (!api_) {
      api_ = std::make_unique<Api>(board_, ApiOptions{},
                                   engine_past({.engine = engine_.options(60s),
                                                .host = {.instance = "n1:9837", .name = "n1"},
                                                .patience = patience,
                                                .whole = whole},
                                               board_, asks_, timer_));
    }
    return testing::ask(
        [&](const http::Request &request, const http::Answer &answer) { api_->handle(request, true, answer); }, target);
  }
  std::string text(const std::string &target) { return body_of(ask(target)); }

  FakeEngine engine_;
  Timer timer_;
  SharedAsks<http::Response> asks_;
  Board board_;
  std::unique_ptr<Api> api_;
};

// GPU-1 went an hour ago.
MadeHost with_one_gone() {
  const double gone = seconds_of(wall_now()) - 3600;
  MadeHost host;
  host.has = [gone](const std::string &uuid, double time) { return uuid != "GPU-1" || time < gone; };
  return host;
}

TEST_F(PastOfAHost, OfAGpuThatHasGoneIsToldWhatItWas) {
  engine_.set(with_one_gone().all());
  post({"GPU-0"});
  const auto told = text(past("history", "&metrics=power_draw_watts&points=10"));
  EXPECT_THAT(told, HasSubstr(R"({"metric":"power_draw_watts","device":"GPU-1","fold":"mean","value":[310,)"));
  EXPECT_THAT(told, HasSubstr(R"("uuid":"GPU-1")"));
  EXPECT_THAT(text(past("history", "&metrics=power_draw_watts&devices=1")), HasSubstr(R"("device":"GPU-1")"));
  EXPECT_EQ(ask(past("history", "&metrics=power_draw_watts&devices=7")).status, 400);
}

TEST_F(PastOfAHost, WhoIsNotThereInTheSpanIsNotTold) {
  engine_.set(with_one_gone().all());
  post({"GPU-0"});
  const auto now = text("/api/v1/history?since=10m&metrics=power_draw_watts");
  EXPECT_THAT(now, AllOf(HasSubstr("GPU-0"), Not(HasSubstr("GPU-1"))));
  EXPECT_EQ(engine_.asked("gpulse_gpu_info"), 0U) << "all that the curves tell of is there";
}

TEST_F(PastOfAHost, OfASilentHostTheEngineNamesTheGpus) {
  engine_.set(MadeHost{}.all());
  EXPECT_THAT(text(past("history", "&metrics=power_draw_watts")),
              AllOf(HasSubstr(R"("uuid":"GPU-0")"), HasSubstr(R"("uuid":"GPU-1")")));
}

TEST_F(PastOfAHost, WhoHeldTheGpusIsTold) {
  const MadeHost host;
  const double begin = seconds_of(wall_now()) - 2 * 3600;
  auto all = host.all();
  all.push_back(host.series("gpulse_gpu_owner_info", {{"uuid", "GPU-0"}, {"user", "ann"}, {"batch_job", "12"}},
                            [](double) { return std::optional(1.0); }));
  all.push_back(host.series("gpulse_gpu_owner_info", {{"uuid", "GPU-1"}, {"user", "bob"}}, [begin](double time) {
    return time >= begin + 600 && time < begin + 1200 ? std::optional(1.0) : std::nullopt;
  }));
  engine_.set(std::move(all));
  post({"GPU-0", "GPU-1"});
  const auto told = text(past("processes"));
  EXPECT_THAT(told, HasSubstr(R"("owners":[{"device":"GPU-0","user":"ann","batch_job":"12","batch_account":null,)"
                              R"("pod":null,"begin":null,"end":null},{"device":"GPU-1","user":"bob",)"));
  EXPECT_THAT(told.substr(told.find("bob")), Not(HasSubstr("\"begin\":null")));
  EXPECT_THAT(told, HasSubstr("which processes"));
  EXPECT_THAT(text(past("processes", "&devices=1")), AllOf(HasSubstr("bob"), Not(HasSubstr("ann"))));
}

TEST_F(PastOfAHost, OfWhatIsToComeNothingIsAsked) {
  engine_.set(MadeHost{}.all());
  post({"GPU-0", "GPU-1"});
  const auto now = static_cast<std::int64_t>(seconds_of(wall_now()));
  for (const auto *const what : {"events", "findings", "processes"}) {
    const auto answer = ask(fmt::format("/api/v1/{}?from={}&to={}", what, now + 100, now + 200));
    EXPECT_EQ(answer.status, 200) << what;
  }
  EXPECT_EQ(engine_.asked(), 0U);
}

TEST_F(PastOfAHost, AQuestionEndsWhenItTakesTooLong) {
  engine_.set(MadeHost{}.all());
  post({"GPU-0", "GPU-1"});
  engine_.hang(true);
  const auto target = past("history", "&metrics=power_draw_watts,temperature_gpu_celsius,clock_sm_mhz");
  const auto late = ask(target, 20ms, 300ms);
  EXPECT_EQ(late.status, 503);
  EXPECT_THAT(body_of(late), HasSubstr("has not answered for 0.02 s"));
  std::string told;
  for (int i = 0; i < 100 && !told.contains("all of it"); ++i) {
    std::this_thread::sleep_for(20ms);
    told = text(target);
  }
  EXPECT_THAT(told, HasSubstr("has not answered all of it within 0.3 s"));
  EXPECT_EQ(engine_.asked(), 1U) << "the others are not asked, nor is the same again";
}

}  // namespace
}  // namespace gpulse::serve
