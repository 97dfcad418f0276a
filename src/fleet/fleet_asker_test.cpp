// SPDX-License-Identifier: Apache-2.0
// What becomes of an overview when an engine answers some questions and others not.
#include "fleet/fleet_asker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "fleet/testing.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeEngine;
using testing::form_value;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Said;
using ::testing::SizeIs;

const WallTime kNow(1'700'000'000s);

// One GPU, of one host.
Said one_gpu(const http::Request &request) {
  const auto query = form_value(request, "query"), time = form_value(request, "time");
  const std::string labels = R"("instance":"n1:9837","uuid":"GPU-a","gpu":"0")";
  if (request.path.ends_with("/series")) {
    return {.body = R"({"status":"success","data":[{"__name__":"gpulse_gpu_info",)" + labels + "}]}"};
  }
  const auto series = [&](const std::string &more, const std::string &value) {
    return Said{.body = fmt::format(R"({{"status":"success","data":{{"result":[{{"metric":{{{}{}}},)"
                                    R"("value":[{},"{}"]}}]}}}})",
                                    labels, more, time, value)};
  };
  if (query.contains("max by (instance,cluster) (gpulse_sample_timestamp")) return series("", time);
  if (query.contains("gpulse_gpu_state")) return series(R"(,"state":"ok")", "1");
  return {};
}

bool is_comparison(const http::Request &request) { return form_value(request, "query").contains("[10m]"); }

std::vector<std::string> faults_of(const FleetSnapshot &fleet) {
  std::vector<std::string> all;
  for (const auto &fault : fleet.faults) all.push_back(fault.what);
  return all;
}

TEST(FleetAsker, GoesOnWithoutTheComparisonWhereAProxyRefusesIt) {
  const FakeEngine engine([](const http::Request &request) {
    return is_comparison(request) ? Said{.status = 502, .body = "bad gateway"} : one_gpu(request);
  });
  const auto fleet = FleetAsker(engine.options()).ask(kNow);
  ASSERT_TRUE(fleet) << fleet.error().error.line();
  EXPECT_THAT((*fleet)->gpus, SizeIs(1));
  EXPECT_THAT(faults_of(**fleet), ElementsAre("comparison of sisters"));
  EXPECT_THAT((*fleet)->faults[0].why.str(), HasSubstr("answered 502"));
}

TEST(FleetAsker, GoesOnWithoutTheQuestionThatAGatewayGivesUp) {
  const FakeEngine engine([](const http::Request &request) {
    return form_value(request, "query").contains("rate(") ? Said{.status = 504} : one_gpu(request);
  });
  const auto fleet = FleetAsker(engine.options()).ask(kNow);
  ASSERT_TRUE(fleet) << fleet.error().error.line();
  EXPECT_THAT(faults_of(**fleet), ElementsAre("held but idle"));
}

TEST(FleetAsker, SaysOfWhenTheComparisonIsThatStandsIn) {
  FakeEngine engine(one_gpu);
  FleetAsker asker(engine.options());
  ASSERT_TRUE(asker.ask(kNow));
  engine.say(
      [](const http::Request &request) { return is_comparison(request) ? Said{.status = 502} : one_gpu(request); });
  const auto fleet = asker.ask(kNow + 90s);
  ASSERT_TRUE(fleet);
  EXPECT_THAT(faults_of(**fleet), ElementsAre("comparison of sisters"));
  EXPECT_EQ((*fleet)->faults[0].as_of, kNow);
}

TEST(FleetAsker, GoesOnWithoutOtherExportersAndTheDayBeforeWhereAProxyRefusesThem) {
  const FakeEngine engine([](const http::Request &request) {
    const auto query = form_value(request, "query");
    if (query.contains("max by (instance,cluster) (gpulse_sample_timestamp")) return Said{};
    const bool is_refused = query.contains("DCGM_") || query.contains("[1d]");
    return is_refused ? Said{.status = 403} : one_gpu(request);
  });
  const auto fleet = FleetAsker(engine.options()).ask(kNow);
  ASSERT_TRUE(fleet) << fleet.error().error.line();
  EXPECT_THAT((*fleet)->gpus, SizeIs(1));
  EXPECT_THAT(faults_of(**fleet), ElementsAre("silent since", "dcgm"));
}

TEST(FleetAsker, KnowsItsGpusForAWhileWhereTheirListIsTooMuch) {
  FakeEngine engine(one_gpu);
  FleetAsker asker(engine.options());
  ASSERT_TRUE(asker.ask(kNow));
  std::atomic<int> lists = 0;
  const auto without_list = [&](const http::Request &request) -> Said {
    if (!request.path.ends_with("/series")) return one_gpu(request);
    ++lists;
    return {.status = 422, .body = R"({"status":"error","errorType":"execution","error":"too many series"})"};
  };
  engine.say(without_list);
  const auto later = asker.ask(kNow + 6min);
  ASSERT_TRUE(later) << later.error().error.line();
  EXPECT_THAT((*later)->gpus, SizeIs(1));
  ASSERT_THAT(faults_of(**later), ElementsAre("list of GPUs"));
  EXPECT_EQ((*later)->faults[0].as_of, kNow);
  const auto soon = asker.ask(kNow + 6min + 15s);
  ASSERT_TRUE(soon);
  EXPECT_THAT(faults_of(**soon), ElementsAre("list of GPUs"));
  EXPECT_EQ(lists, 1) << "it is not asked for again at once";
  ASSERT_TRUE(asker.ask(kNow + 8min));
  EXPECT_EQ(lists, 2);
  EXPECT_FALSE(asker.ask(kNow - 1h)) << "of another time";
  engine.say(one_gpu);
  EXPECT_THAT(faults_of(**asker.ask(kNow + 9min + 30s)), IsEmpty());
  engine.say([](const http::Request &) { return Said{.status = 502}; });
  EXPECT_FALSE(asker.ask(kNow + 15min)) << "the engine is away";
}

TEST(FleetAsker, HasToKnowItsGpusOnce) {
  const FakeEngine engine([](const http::Request &request) -> Said {
    if (!request.path.ends_with("/series")) return one_gpu(request);
    return {.status = 422, .body = R"({"status":"error","errorType":"execution","error":"too many series"})"};
  });
  EXPECT_FALSE(FleetAsker(engine.options()).ask(kNow));
}

TEST(FleetAsker, SaysThatSomethingIsMissingAsLongAsItIs) {
  FakeEngine engine([](const http::Request &request) {
    auto said = one_gpu(request);
    if (form_value(request, "query").contains("gpulse_gpu_state")) said.body.insert(1, R"("isPartial":true,)");
    return said;
  });
  FleetAsker asker(engine.options());
  EXPECT_EQ((*asker.ask(kNow))->warning, "the answer is partial");
  engine.say(one_gpu);
  EXPECT_TRUE((*asker.ask(kNow + 15s))->warning.empty());
}

TEST(FleetAsker, SaysThatSomethingIsMissingOfWhatItKeepsForAWhile) {
  const auto partial = [](const http::Request &request) {
    auto said = one_gpu(request);
    said.body.insert(1, R"("isPartial":true,)");
    return said;
  };
  for (const bool is_list : {true, false}) {
    FakeEngine engine([&](const http::Request &request) {
      const bool is_it = is_list ? request.path.ends_with("/series") : is_comparison(request);
      return is_it ? partial(request) : one_gpu(request);
    });
    FleetAsker asker(engine.options());
    EXPECT_EQ((*asker.ask(kNow))->warning, "the answer is partial") << is_list;
    EXPECT_EQ((*asker.ask(kNow + 15s))->warning, "the answer is partial") << is_list;
    engine.say(one_gpu);
    EXPECT_TRUE((*asker.ask(kNow + 6min))->warning.empty()) << is_list;
  }
}

}  // namespace
}  // namespace gpulse::fleet
