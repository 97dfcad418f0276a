// SPDX-License-Identifier: Apache-2.0
#include "serve/api.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/temporary_folder.hpp"
#include "history/testing.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
namespace made = history::testing;

constexpr double kGiB = 1024.0 * 1024 * 1024;

http::Response ask(Api &api, const std::string &path, http::Fields query = {}, bool sees_commands = true) {
  std::promise<http::Response> answered;
  api.handle({.path = "/api/v1/" + path, .query = std::move(query)}, sees_commands,
             [&](http::Response response) { answered.set_value(std::move(response)); });
  return answered.get_future().get();
}

std::string body(const http::Response &response) { return response.body ? *response.body : std::string(); }

// Second `second` of a made-up machine: GPU i is busy to i + second modulo 10.
Snapshot machine(double second, std::uint32_t gpus = 2) {
  Snapshot now;
  now.time = made::at(second);
  now.hostname = "made-up";
  now.host[host_metric("cpu_percent")] = 25;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    auto device = made::make_device(i);
    device.row[device_metric("gpu_utilization_percent")] = i + std::fmod(second, 10);
    device.row[device_metric("memory_used_bytes")] = (i + 1) * kGiB;
    device.row[device_metric("throttle_reasons")] = 4;
    device.row[device_metric("ecc_mode")] = 1;
    device.row[device_metric("energy_joules")] = 100 * second;
    now.devices.push_back(std::move(device));
  }
  auto process = made::make_process(4711, 0, "ann", "python train.py --password hunter2");
  process.row[process_metric("gpu_utilization_percent")] = 50;
  now.processes.push_back(std::move(process));
  return now;
}

class ApiOfNow : public ::testing::Test {
 protected:
  Board board_;
  Api api_{board_, {}, history_file_past("")};
};

TEST_F(ApiOfNow, SaysThatThereIsNoSampleYet) {
  for (const auto *path : {"snapshot", "devices", "processes", "events", "findings"}) {
    EXPECT_EQ(ask(api_, path).status, 503) << path;
  }
}

TEST_F(ApiOfNow, AnswersUnknownPathsWithAnError) {
  for (const auto *path : {"", "nothing", "snapshot/", "snapshot/x", "Snapshot"}) {
    const auto response = ask(api_, path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_THAT(body(response), ::testing::StartsWith(R"({"error":{"message":")"));
  }
}

TEST_F(ApiOfNow, GivesTheNewestSample) {
  board_.post(std::make_shared<const Snapshot>(machine(3)));
  const auto response = ask(api_, "snapshot");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.cache_control, "no-store");
  EXPECT_THAT(body(response), ::testing::StartsWith(R"({"schema":"gpulse/1","time":"2023-11-14T22:14:03.000Z",)"));
  EXPECT_THAT(body(response), HasSubstr(R"("uuid":"GPU-1")"));
  EXPECT_THAT(body(response), HasSubstr("hunter2"));
  EXPECT_THAT(body(response), HasSubstr(R"("findings":[])"));
}

TEST_F(ApiOfNow, LeavesOutWhatIsNotAskedFor) {
  board_.post(std::make_shared<const Snapshot>(machine(3)));
  const auto one = body(ask(api_, "snapshot", {{"metrics", "gpu_utilization_percent"}, {"devices", "1"}}));
  EXPECT_THAT(one, HasSubstr(R"("metrics":{"gpu_utilization_percent":4})"));
  EXPECT_THAT(one, Not(HasSubstr("GPU-0")));
  EXPECT_THAT(one, Not(HasSubstr("processes")));
  EXPECT_THAT(body(ask(api_, "snapshot", {{"processes", "0"}})), Not(HasSubstr(R"("processes":)")));
  const auto none = ask(api_, "snapshot", {{"devices", "7"}});
  EXPECT_EQ(none.status, 400);
  EXPECT_THAT(body(none), HasSubstr(R"("field":"devices")"));
}

TEST_F(ApiOfNow, KeepsCommandLinesFromThoseWhoMayNotSeeThem) {
  board_.post(std::make_shared<const Snapshot>(machine(3)));
  for (const auto *path : {"snapshot", "processes"}) {
    const auto text = body(ask(api_, path, {}, false));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
    EXPECT_THAT(text, HasSubstr(R"("command":null)"));
    EXPECT_THAT(text, HasSubstr(R"("command":"no permission")"));
    EXPECT_THAT(text, HasSubstr(R"("user":"ann")"));
    EXPECT_THAT(body(ask(api_, path, {}, true)), HasSubstr("hunter2"));
  }
}

TEST_F(ApiOfNow, TellsWhatTheDevicesAre) {
  board_.post(std::make_shared<const Snapshot>(machine(3)));
  EXPECT_THAT(body(ask(api_, "devices")),
              ::testing::StartsWith(R"({"schema":"gpulse-devices/1","hostname":"made-up",)"
                                    R"("time":"2023-11-14T22:14:03.000Z","devices":[{"id":"0","index":0,)"
                                    R"("vendor":"nvidia","uuid":"GPU-0","pci":null,"name":"NVIDIA H200")"));
}

TEST_F(ApiOfNow, TellsFindingsWithTheirNumberAndCost) {
  board_.post(std::make_shared<const Snapshot>(machine(3)));
  insight::Finding finding{.id = insight::FindingId::input_cpu,
                           .weight = insight::Weight::problem,
                           .confidence = 0.9,
                           .devices = {{.index = 1}},
                           .since = made::at(1),
                           .until = made::at(3),
                           .lost_share = 0.5,
                           .text = "waits"};
  board_.post(std::vector<insight::LastingFinding>{{.number = 12, .finding = finding}});
  const auto text = body(ask(api_, "findings"));
  EXPECT_THAT(text, HasSubstr(R"("findings":[{"number":12,"title":)"));
  EXPECT_THAT(text, HasSubstr(R"("cost":"50 % of GPU time: mended, at best 2.0 times as fast")"));
  EXPECT_THAT(text, HasSubstr(R"("id":"input-cpu")"));
  EXPECT_THAT(text, HasSubstr(R"("since":"2023-11-14T22:14:01.000Z","since_seconds":-2)"));
  EXPECT_THAT(body(ask(api_, "findings", {{"devices", "0"}})), HasSubstr(R"("findings":[])"));
}

TEST_F(ApiOfNow, LetsTheTablesBeKept) {
  for (const auto *path : {"metrics-table", "openapi.json"}) {
    const auto response = ask(api_, path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.cache_control, "no-cache");
    EXPECT_THAT(response.etag, ::testing::MatchesRegex("\"[0-9a-f]{16}\""));
    EXPECT_EQ(response.etag, ask(api_, path).etag);
    EXPECT_EQ(ask(api_, path, {{"x", "y"}}).status, 400);
  }
}

TEST_F(ApiOfNow, SaysThatNoHistoryIsKept) {
  for (const auto *path : {"history", "processes", "events", "findings"}) {
    const auto response = ask(api_, path, {{"since", "1h"}});
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_THAT(body(response), HasSubstr("keeps no history"));
  }
}

class ApiOfThen : public ::testing::Test {
 protected:
  // Ten minutes, without the fourth; GPU 1 is lost from the sixth on.
  void SetUp() override {
    const auto store = made::open_store(file());
    std::vector<history::TimedSample> samples;
    for (int second = 0; second < 600; ++second) {
      if (second >= 180 && second < 240) continue;
      auto now = machine(second);
      if (second >= 300) {
        now.devices[1].state = DeviceState::lost;
        now.devices[1].row.fill(Reason::lost);
      }
      if (second == 100) now.events = std::vector<Event>{event(100, EventKind::finding, 7, "input-cpu: it waits")};
      if (second == 150)
        now.events = std::vector<Event>{event(150, EventKind::finding_ended, 7, "input-cpu after 50 s")};
      samples.push_back({std::make_shared<const Snapshot>(std::move(now)), 1});
    }
    made::append(*store, samples);
  }
  static Event event(double second, EventKind kind, std::int64_t code, std::string text) {
    return {.time = made::at(second), .device = "GPU-0", .kind = kind, .code = code, .text = std::move(text)};
  }
  std::string file() const { return folder_.path() + "/history.db"; }
  static http::Fields span(double from, double to, http::Fields more = {}) {
    const auto time = [](double second) { return fmt::format("{}", made::kStart + static_cast<std::int64_t>(second)); };
    more.emplace_back("from", time(from));
    more.emplace_back("to", time(to));
    return more;
  }

  TemporaryFolder folder_;
  Board board_;
};

TEST_F(ApiOfThen, FoldsSamplesToStepsOfOneAxis) {
  Api api(board_, {}, history_file_past(file()));
  const auto response =
      ask(api, "history", span(60, 120, {{"metrics", "gpu_utilization_percent"}, {"devices", "1"}, {"step", "20"}}));
  ASSERT_EQ(response.status, 200) << body(response);
  EXPECT_THAT(body(response),
              HasSubstr(fmt::format(R"("start_seconds":{},"step_seconds":20,"count":3)", made::kStart + 60)));
  // Of 1 + 0…9, two times each: mean 5.5, from 1 to 10.
  EXPECT_THAT(body(response), HasSubstr(R"([{"metric":"gpu_utilization_percent","device":"GPU-1","fold":"mean",)"
                                        R"("value":[5.5,5.5,5.5],"min":[1,1,1],"max":[10,10,10]}])"));
}

TEST_F(ApiOfThen, LeavesOutARangeThatIsTheValue) {
  Api api(board_, {}, history_file_past(file()));
  const auto text = body(ask(api, "history", span(0, 5, {{"metrics", "gpu_utilization_percent"}, {"devices", "0"}})));
  EXPECT_THAT(text, HasSubstr(R"("tier":"1 s")"));
  EXPECT_THAT(text, HasSubstr(R"("value":[0,1,2,3,4]})"));
}

TEST_F(ApiOfThen, ShowsGapsAsNull) {
  Api api(board_, {}, history_file_past(file()));
  const auto text = body(ask(api, "history", span(120, 360, {{"metrics", "memory_used_bytes"}, {"step", "60"}})));
  EXPECT_THAT(text, HasSubstr(R"("device":"GPU-0","fold":"mean","value":[1073741824,null,1073741824,1073741824])"));
  EXPECT_THAT(text, HasSubstr(R"("device":"GPU-1","fold":"mean","value":[2147483648,null,2147483648,null])"));
}

TEST_F(ApiOfThen, HoldsWhatHardlyChangesWhereAnythingWasRecorded) {
  Api api(board_, {}, history_file_past(file()));
  const auto text = body(ask(api, "history", span(120, 420, {{"metrics", "ecc_mode"}, {"step", "60"}})));
  EXPECT_THAT(text, HasSubstr(R"("words":{"ecc_mode":["off","on"]})"));
  EXPECT_THAT(text, HasSubstr(R"("device":"GPU-0","fold":"last","value":[1,null,1,1,1])"));
  EXPECT_THAT(text, HasSubstr(R"("device":"GPU-1","fold":"last","value":[1,null,1,null,null])"));
}

TEST_F(ApiOfThen, GivesSetsAsNumbersWithTheirWords) {
  Api api(board_, {}, history_file_past(file()));
  const auto text =
      body(ask(api, "history", span(0, 60, {{"metrics", "throttle_reasons"}, {"devices", "0"}, {"step", "60"}})));
  EXPECT_THAT(text, HasSubstr(R"("words":{"throttle_reasons":["idle","application clocks","power cap",)"));
  EXPECT_THAT(text, HasSubstr(R"("fold":"any","value":[4]})"));
}

TEST_F(ApiOfThen, GivesWhatACounterGrewBy) {
  Api api(board_, {}, history_file_past(file()));
  const auto text =
      body(ask(api, "history", span(60, 180, {{"metrics", "energy_joules"}, {"devices", "0"}, {"step", "60"}})));
  EXPECT_THAT(text, HasSubstr(R"("fold":"counter","value":[6000,6000]})"));
}

TEST_F(ApiOfThen, LetsOnlyWhatIsOverBeKept) {
  Api api(board_, {}, history_file_past(file()));
  const auto over = ask(api, "history", span(0, 60));
  EXPECT_FALSE(over.etag.empty());
  EXPECT_EQ(over.cache_control, "private, max-age=3600");
  EXPECT_EQ(over.etag, ask(api, "history", span(0, 60)).etag);
  EXPECT_NE(over.etag, ask(api, "history", span(0, 61)).etag);
  const auto open = ask(api, "history", span(0, 600));
  EXPECT_TRUE(open.etag.empty());
  EXPECT_EQ(open.cache_control, "no-store");
}

TEST_F(ApiOfThen, BoundsPointsOfAllSeriesTogether) {
  Api api(board_, {}, history_file_past(file()));
  std::string metrics;
  std::size_t count = 0;
  for_each_metric(Scope::device, [&](MetricId, const Metric &metric) {
    if (is_text(metric) || count == 64) return;
    metrics += (count++ == 0 ? "" : ",") + std::string(metric.key);
  });
  const auto response = ask(api, "history", span(0, 600, {{"metrics", metrics}, {"points", "20000"}}));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(body(response), HasSubstr(R"("field":"points")"));
}

TEST_F(ApiOfThen, TellsWhoWasThere) {
  Api api(board_, {}, history_file_past(file()));
  const auto text = body(ask(api, "processes", span(0, 120)));
  // The last minute is not over.
  EXPECT_THAT(text, HasSubstr(R"("processes":[{"id":"0","uuid":"GPU-0","pid":4711,"type":"compute","user":"ann")"));
  EXPECT_THAT(text, HasSubstr(R"("first":"2023-11-14T22:14:00.000Z","last":"2023-11-14T22:22:59.000Z","seconds":120,)"
                              R"("gpu_seconds":60,)"));
  EXPECT_THAT(text, HasSubstr("hunter2"));
  const auto hidden = body(ask(api, "processes", span(0, 120), false));
  EXPECT_THAT(hidden, Not(HasSubstr("hunter2")));
  EXPECT_THAT(hidden, HasSubstr(R"("user":"ann")"));
  EXPECT_THAT(body(ask(api, "processes", span(0, 120, {{"by", "user"}}))),
              HasSubstr(R"("totals":[{"user":"ann","processes":1,"devices":1,"seconds":120,"gpu_seconds":60,)"));
}

TEST_F(ApiOfThen, TellsWhatHappened) {
  Api api(board_, {}, history_file_past(file()));
  const auto text = body(ask(api, "events", span(0, 120)));
  EXPECT_THAT(text, HasSubstr(R"("events":[{"time":"2023-11-14T22:15:40.000Z","device":"GPU-0","kind":"finding",)"
                              R"("severity":"warning","code":7,"text":"input-cpu: it waits"}])"));
  EXPECT_THAT(body(ask(api, "events", span(0, 120, {{"devices", "1"}}))), HasSubstr(R"("events":[])"));
}

TEST_F(ApiOfThen, TellsWhenFindingsBeganAndEnded) {
  Api api(board_, {}, history_file_past(file()));
  const auto text = body(ask(api, "findings", span(120, 600)));
  EXPECT_THAT(text, HasSubstr(R"("device":"GPU-0","begin":"2023-11-14T22:15:40.000Z","end":"2023-11-14T22:16:30.000Z",)"
                              R"("lasts":false,"text":"input-cpu: it waits"}])"));
  EXPECT_THAT(body(ask(api, "findings", span(151, 600))), HasSubstr(R"("spans":[])"));
}

TEST_F(ApiOfThen, RefusesAfterItsTime) {
  Api api(board_, {}, history_file_past(file(), {.time = 0ms}));
  const auto response = ask(api, "history", span(0, 600));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.at(0).first, "Retry-After");
}

TEST_F(ApiOfThen, SaysThatTheFileCannotBeRead) {
  Api api(board_, {}, history_file_past(folder_.path() + "/none.db"));
  const auto response = ask(api, "history", span(0, 600));
  EXPECT_EQ(response.status, 503);
  // The log says more.
  EXPECT_THAT(body(response), Not(HasSubstr("none.db")));
}

}  // namespace
}  // namespace gpulse::serve
