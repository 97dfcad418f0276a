// SPDX-License-Identifier: Apache-2.0
// A fleet over HTTP, told by an engine that a test makes up.
#include "serve/fleet_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "serve/testing.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::HasSubstr;

class FleetOverHttp : public ::testing::Test {
 protected:
  std::unique_ptr<FleetSite> open(FleetSiteOptions more = {}) {
    more.engine = engine_.options(60s);
    return std::make_unique<FleetSite>(std::move(more));
  }
  static http::Response ask(FleetSite &site, const std::string &target) {
    const auto routes = site.routes();
    return testing::ask(
        [&](const http::Request &request, const http::Answer &answer) {
          const auto route =
              std::ranges::find_if(routes, [&](const Route &one) { return request.path.starts_with(one.path); });
          route->handle(request, {}, answer);
        },
        target);
  }
  static std::string header(const http::Response &response, std::string_view name) {
    const auto found = std::ranges::find(response.headers, name, &http::Fields::value_type::first);
    return found == response.headers.end() ? "" : found->second;
  }

  FakeEngine engine_;
};

TEST_F(FleetOverHttp, StaysAsItIsWhileTheEngineIsAskedForTheNext) {
  engine_.set(MadeHost{}.all());
  const auto site = open({.interval = 50ms});
  ASSERT_EQ(ask(*site, "/api/v1/fleet").status, 200);
  engine_.hang(true);
  http::Response first;
  for (int i = 0; i < 100 && header(first, "X-Gpulse-Asking-Seconds").empty(); ++i) {
    std::this_thread::sleep_for(50ms);
    first = ask(*site, "/api/v1/fleet");
  }
  EXPECT_GE(std::stoi(header(first, "X-Gpulse-Asking-Seconds")), 2);
  std::this_thread::sleep_for(1100ms);
  const auto second = ask(*site, "/api/v1/fleet");
  EXPECT_GT(std::stoi(header(second, "X-Gpulse-Asking-Seconds")), std::stoi(header(first, "X-Gpulse-Asking-Seconds")));
  EXPECT_EQ(second.etag, first.etag);
  EXPECT_EQ(second.body, first.body) << "it is not made anew";
}

TEST_F(FleetOverHttp, IsMadeOnceForAllWhoAsk) {
  engine_.set(MadeHost{}.all());
  const auto site = open();
  ASSERT_EQ(ask(*site, "/api/v1/fleet").status, 200);
  std::vector<std::jthread> clients;
  std::array<http::Response, 8> answers;
  for (auto &answer : answers) clients.emplace_back([&] { answer = ask(*site, "/api/v1/fleet?by=user"); });
  clients.clear();
  for (const auto &answer : answers) EXPECT_EQ(answer.body, answers[0].body);
}

TEST_F(FleetOverHttp, CurvesRefuseWordsThatTheyDoNotKnow) {
  engine_.set(MadeHost{}.all());
  const auto site = open();
  for (const auto *const filter : {"severity=problem", "idle=yes", "xid=79", "remark=*", "any=n1"}) {
    EXPECT_EQ(ask(*site, std::string("/api/v1/fleet?filter=") + filter).status, 200) << filter;
    const auto curves = ask(*site, std::string("/api/v1/fleet/curves?since=1h&filter=") + filter);
    EXPECT_EQ(curves.status, 400) << filter;
    EXPECT_THAT(body_of(curves), HasSubstr("curves cannot be filtered by"));
  }
}

TEST_F(FleetOverHttp, AQuestionThatTakesTooLongIsGivenUp) {
  const auto site = open({.patience = 10ms, .whole = 200ms});
  engine_.hang(true);
  for (const auto *const target :
       {"/api/v1/fleet/curves?from=1700000000&to=1700003600", "/api/v1/fleet?at=1700000000"}) {
    EXPECT_THAT(body_of(ask(*site, target)), HasSubstr("has not answered for 0.01 s"));
    std::string told;
    for (int i = 0; i < 100 && !told.contains("all of it"); ++i) {
      std::this_thread::sleep_for(10ms);
      told = body_of(ask(*site, target));
    }
    EXPECT_THAT(told, HasSubstr("has not answered all of it within 0.2 s")) << target;
  }
}

TEST_F(FleetOverHttp, AHostWithoutANameIsNoFolder) {
  const auto site = open();
  EXPECT_EQ(site->folder("/host/"), "");
  EXPECT_EQ(site->folder("/host/n1"), "/host/n1");
  EXPECT_EQ(site->folder("/host/n1/api/v1/snapshot"), "/host/n1");
}

TEST_F(FleetOverHttp, OpensAHostAnewThatAnotherClusterHasToo) {
  engine_.set(MadeHost{}.all());
  const auto site = open({.interval = 50ms});
  EXPECT_THAT(body_of(ask(*site, "/host/n1/api/v1/about")), HasSubstr(R"("key":"n1")"));
  MadeHost west;
  west.cluster = "west";
  west.gpus = {"GPU-2", "GPU-3"};
  auto both = MadeHost{}.all();
  for (auto &series : west.all()) both.push_back(std::move(series));
  engine_.set(std::move(both));
  // The list of GPUs is asked for again when one is there that is not in it.
  std::string told;
  for (int i = 0; i < 200 && !told.contains("n1__west"); ++i) {
    std::this_thread::sleep_for(20ms);
    told = body_of(ask(*site, "/api/v1/fleet"));
  }
  ASSERT_THAT(told, HasSubstr("n1__west"));
  EXPECT_EQ(ask(*site, "/host/n1/api/v1/snapshot").status, 404) << "it is n1__ now";
  EXPECT_EQ(ask(*site, "/host/n1__west/api/v1/snapshot").status, 200);
}

TEST_F(FleetOverHttp, KnowsNoOtherHost) {
  engine_.set(MadeHost{}.all());
  const auto site = open();
  EXPECT_EQ(ask(*site, "/host/n1/api/v1/snapshot").status, 200);
  EXPECT_EQ(ask(*site, "/host/n2/api/v1/snapshot").status, 404);
}

}  // namespace
}  // namespace gpulse::serve
