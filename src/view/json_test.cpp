// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "view/json_indent.hpp"
#include "view/json_schema.hpp"
#include "view/reference.hpp"
#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using ::testing::HasSubstr;
using testing::make_snapshot;
using ::testing::Not;

std::string json_of(const Snapshot &snapshot, bool pretty = false) {
  std::string text;
  write_json(snapshot, text, {.pretty = pretty});
  return text;
}

TEST(Json, StartsAsTheContractSays) {
  EXPECT_THAT(json_of(make_snapshot(0)),
              ::testing::StartsWith(
                  R"({"schema":"gpulse/1","time":"2026-11-15T02:31:18.730Z","hostname":"node7","origin":null,)"
                  R"("host":{"cpu_percent":12.5,)"));
}

TEST(Json, TellsWhatADeviceIs) {
  EXPECT_THAT(
      json_of(make_snapshot(1)),
      HasSubstr(R"("devices":[{"id":"0","index":0,"vendor":"nvidia","uuid":"GPU-00000000-0000","pci":"0000:06:00.0",)"
                R"("name":"NVIDIA H200","driver":"580.159.04","parent":null,"mig":null,"label":null,"state":"ok",)"
                R"("metrics":{"gpu_utilization_percent":99,)"));
}

TEST(Json, GivesNullAndTheReason) {
  auto snapshot = make_snapshot(1);
  auto &row = snapshot.devices[0].row;
  row[device_metric("fan_speed_percent")] = Reason::no_permission;
  row[device_metric("fan_speed_rpm")] = Reading(Reason::error, 999);
  row[device_metric("fan_count")] = std::numeric_limits<double>::quiet_NaN();
  const auto text = json_of(snapshot);
  EXPECT_THAT(text, HasSubstr(R"("fan_speed_percent":null,"fan_speed_rpm":null,"fan_count":null)"));
  EXPECT_THAT(text, HasSubstr(R"("fan_speed_percent":"no permission","fan_speed_rpm":"error: driver code 999",)"
                              R"("fan_count":"error: value out of range")"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Json, WritesStatesAndSetsAsWords) {
  auto snapshot = make_snapshot(1);
  auto &row = snapshot.devices[0].row;
  row[device_metric("throttle_reasons")] = 0x44;
  row[device_metric("ecc_mode")] = 1;
  row[device_metric("compute_mode")] = 17;
  const auto text = json_of(snapshot);
  EXPECT_THAT(text, HasSubstr(R"("performance_state":"P0","throttle_reasons":["power cap","hw thermal"])"));
  EXPECT_THAT(text, HasSubstr(R"("ecc_mode":"on")"));
  EXPECT_THAT(text, HasSubstr(R"("compute_mode":"17")"));
  row[device_metric("throttle_reasons")] = 0;
  EXPECT_THAT(json_of(snapshot), HasSubstr(R"("throttle_reasons":[])"));
}

TEST(Json, RoundsToThreeDigitsOrTheMetricsOwn) {
  auto snapshot = make_snapshot(1);
  auto &row = snapshot.devices[0].row;
  row[device_metric("sm_active_percent")] = 80.93561234;
  row[device_metric("encoder_latency_seconds")] = 0.0012345678;
  const auto text = json_of(snapshot);
  EXPECT_THAT(text, HasSubstr(R"("sm_active_percent":80.936,)"));
  EXPECT_THAT(text, HasSubstr(R"("encoder_latency_seconds":0.001235,)"));
  EXPECT_EQ(rounded(device_metric("memory_total_bytes"), 150754820096.0), 150754820096.0);
  EXPECT_EQ(rounded(device_metric("memory_total_bytes"), 1e300), 1e300);
}

TEST(Json, WritesProcessesFlat) {
  auto snapshot = make_snapshot(1);
  snapshot.processes[0] = testing::make_process(560, 0, "python3 \"a\\b\"\n", "root");
  EXPECT_THAT(
      json_of(snapshot),
      HasSubstr(
          R"("processes":[{"pid":560,"device":0,"device_id":"0","type":"compute","state":"ok","user":"root",)"
          R"("name":"python3","program":null,"command":"python3 \"a\\b\" ","container":null,"pod":null,"job":null,"account":null,)"
          R"("parent":null,"framework":null,)"
          R"("gpu_memory_bytes":118326349004.8,"gpu_utilization_percent":98,)"));
  snapshot.processes[0].foreign = true;
  snapshot.processes[0].texts = nullptr;
  EXPECT_THAT(json_of(snapshot),
              HasSubstr(R"("state":"host pid","user":null,"name":null,"program":null,"command":null,)"));
}

TEST(Json, TellsOfSourcesEventsAndOrigin) {
  auto snapshot = make_snapshot(0);
  snapshot.origin = "REPLAY";
  snapshot.sources.push_back({"nvml", "the driver is not loaded", "", 0});
  snapshot.events.push_back({snapshot.time, "GPU-1", EventKind::xid, 79, "gone"});
  const auto text = json_of(snapshot);
  EXPECT_THAT(text, HasSubstr(R"("origin":"REPLAY")"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"("devices":[],"processes":[],)"
          R"("sources":[{"name":"nvml","problem":"the driver is not loaded","remedy":null,"devices":0}],)"
          R"("events":[{"time":"2026-11-15T02:31:18.730Z","device":"GPU-1","kind":"xid","severity":"critical","code":79,"text":"gone"}],)"));
}

// What was written before is used again only where it is still right.
TEST(Json, TellsOfFindingsWhereThereIsAPastToJudge) {
  const auto snapshot = make_snapshot(1);
  const auto written = [&](const std::vector<insight::Finding> *findings) {
    std::string text;
    write_json(snapshot, text, {.findings = findings});
    return text;
  };
  EXPECT_THAT(written(nullptr), Not(HasSubstr("\"findings\"")));
  std::vector<insight::Finding> findings;
  EXPECT_THAT(written(&findings), HasSubstr("\"findings\":[],"));
  findings.push_back({.id = insight::FindingId::hung,
                      .weight = insight::Weight::problem,
                      .confidence = 0.8,
                      .devices = {{0}},
                      .pids = {560},
                      .since = snapshot.time - std::chrono::milliseconds(12500),
                      .until = snapshot.time,
                      .lost_share = 1,
                      .text = "It waits"});
  EXPECT_THAT(
      written(&findings),
      HasSubstr("\"findings\":[{\"id\":\"hung\",\"severity\":\"problem\",\"confidence\":0.8,\"estimated\":false,"
                "\"devices\":[\"0\"],\"pids\":[560],\"since\":\"2026-11-15T02:31:06.230Z\","
                "\"since_seconds\":-12.5,\"until_seconds\":0,\"lost_share\":1,\"text\":\"It waits\","));
}

TEST(Json, WritesEverySampleAsIfItWereTheFirst) {
  JsonMemory memory;
  const auto expect_as_first = [&](const Snapshot &snapshot, const char *what) {
    std::string text;
    write_json(snapshot, text, {.memory = &memory});
    EXPECT_EQ(text, json_of(snapshot)) << what;
  };
  auto now = make_snapshot(2);
  expect_as_first(now, "first");
  expect_as_first(now, "again");
  now.devices[0].state = DeviceState::asleep;
  now.devices[1].row[device_metric("gpu_utilization_percent")] = 7;
  expect_as_first(now, "other readings");
  auto other = *now.devices[0].identity;
  other.name = "another";
  now.devices[0].identity = std::make_shared<const DeviceIdentity>(other);
  expect_as_first(now, "another identity");
  std::swap(now.devices[0], now.devices[1]);
  expect_as_first(now, "another order");
  now.devices[1].id.instance = 3;
  expect_as_first(now, "another number");
  now.devices.pop_back();
  expect_as_first(now, "fewer");
  now.devices.emplace_back();
  expect_as_first(now, "one that is not known");
  auto sources = now.sources.get();
  sources.push_back({.name = "late", .problem = "no driver", .remedy = {}});
  now.sources = sources;
  expect_as_first(now, "another source");
  now.sources.clear();
  expect_as_first(now, "no source");
}

TEST(JsonIndent, LaysOutForAPerson) {
  EXPECT_EQ(indent_json(R"({"a":[1,2],"b":{},"c":"x,{\"}","d":[]})"),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": \"x,{\\\"}\",\n  \"d\": []\n}\n");
}

TEST(JsonIndent, ChangesNothingButBlanks) {
  const auto snapshot = make_snapshot(2);
  std::string squeezed;
  bool quoted = false;
  for (const char c : json_of(snapshot, true)) {
    if (c == '"') quoted = !quoted;
    if (quoted || (c != ' ' && c != '\n')) squeezed += c;
  }
  EXPECT_EQ(squeezed, json_of(snapshot));
}

TEST(Documentation, IsWhatTheTableSays) {
  testing::expect_file("docs/schema/gpulse-1.schema.json", json_schema());
  testing::expect_file("docs/metrics.md", metric_reference());
}

TEST(Table, IsPublishedWhole) {
  std::string text;
  write_table_json(text, false);
  for (const auto &metric : kMetrics) EXPECT_THAT(text, HasSubstr(fmt::format(R"("key":"{}")", metric.key)));
}

}  // namespace
}  // namespace gpulse::view
