// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

// Two hosts: one GPU that is parted, its instance, and one that is held by two; one GPU of a silent host.
FleetSnapshot some_fleet() {
  FleetSnapshot fleet{.at = WallTime(1700000000s), .place = "engine:9090"};
  fleet.hosts = {{.instance = "n1:9837", .name = "n1", .cluster = "east"},
                 {.instance = "old:9400", .name = "old", .exporter = Exporter::dcgm, .silent_for = 240s}};
  FleetGpu whole{.host = 0, .uuid = "GPU-w", .id = "0", .name = "H100", .vendor = "nvidia", .held = false};
  FleetGpu part{.host = 0, .uuid = "MIG-p", .parent = "GPU-w", .id = "0:1", .name = "H100", .vendor = "nvidia"};
  FleetGpu held{.host = 0, .uuid = "GPU-h", .id = "1", .name = "A100", .vendor = "nvidia", .held = true, .idle = true};
  held.owners = {{.user = "ann", .job = "7"}, {.user = "bob"}};
  held.findings = {{.id = "input-cpu", .weight = insight::Weight::problem}, {.id = "of-tomorrow"}};
  held.errors = {79};
  held.readings[static_cast<std::size_t>(FleetReading::true_activity)] = 12.34;
  FleetGpu silent{.host = 1, .uuid = "GPU-s", .id = "0", .state = GpuState::silent, .owners = {{.user = "ann"}}};
  fleet.gpus = {whole, part, held, silent};
  return fleet;
}

std::string page(const FleetSnapshot &fleet, FleetQuestion question = {}, const FleetPageNotes &notes = {}) {
  return fleet_page_json(fleet, make_fleet_view(fleet, std::move(question)), notes);
}

TEST(FleetPage, HasARowForEachGpuInEveryColumn) {
  const auto shown = page(some_fleet());
  EXPECT_THAT(shown, HasSubstr(R"("id":["0","0:1","1","0"],"uuid":["GPU-w","MIG-p","GPU-h","GPU-s"])"));
  EXPECT_THAT(shown, HasSubstr(R"("gpus":{"host":[0,0,0,1],)"));
  EXPECT_THAT(shown, HasSubstr(R"("parent":[null,0,null,null],"model":[0,0,1,null],)"));
  EXPECT_THAT(shown, HasSubstr(R"("models":["H100","A100"])"));
  EXPECT_THAT(shown, HasSubstr(R"("state":["ok","ok","ok","silent"],"held":[false,null,true,null],)"));
  EXPECT_THAT(shown, HasSubstr(R"("idle":[false,null,true,null],)"));
}

TEST(FleetPage, SaysWordsOnceAndWhere) {
  const auto shown = page(some_fleet());
  EXPECT_THAT(shown, HasSubstr(R"("owners":[[],[],[0,1],[2]],"findings":[[],[],[0,1],[]],"xids":[[],[],[79],[]],)"));
  EXPECT_THAT(shown, HasSubstr(R"("owners":[{"user":"ann","batch_job":"7","batch_account":null,"pod":null},)"
                               R"({"user":"bob","batch_job":null,)"));
  EXPECT_THAT(shown,
              HasSubstr(R"({"id":"input-cpu","severity":"problem","title":"starved by preprocessing on the CPU"})"));
  EXPECT_THAT(shown, HasSubstr(R"({"id":"of-tomorrow","severity":"ok","title":"of-tomorrow"})"))
      << "another version's is called as it is";
}

TEST(FleetPage, AFindingMayWeighMoreOnOneGpuThanOnAnother) {
  auto fleet = some_fleet();
  fleet.gpus[0].findings = {{.id = "input-cpu", .weight = insight::Weight::note}};
  const auto shown = page(fleet);
  EXPECT_THAT(shown, HasSubstr(R"("findings":[[0],[],[1,2],[]])"));
  EXPECT_THAT(shown, HasSubstr(R"("findings":[{"id":"input-cpu","severity":"note",)"));
  EXPECT_THAT(shown, HasSubstr(R"({"id":"input-cpu","severity":"problem",)"));
}

TEST(FleetPage, AReadingThatIsNotThereIsNull) {
  const auto shown = page(some_fleet());
  EXPECT_THAT(shown, HasSubstr(R"("sm_active_percent":[null,null,12.3,null])"));
  EXPECT_THAT(shown, HasSubstr(R"("power_watts":null)"));
}

TEST(FleetPage, GroupsNameTheirRows) {
  const auto shown = page(some_fleet(), {.by = FleetBy::host, .sort = FleetSort::name});
  EXPECT_THAT(shown, HasSubstr(R"("groups":[{"kind":"named","name":"n1","silent_hosts":0,"held":1,)"));
  EXPECT_THAT(shown, HasSubstr(R"("gpus":[0,2],"hosts":[0]})")) << "an instance counts with its GPU";
  EXPECT_THAT(shown, HasSubstr(R"("gpus":[3],"hosts":[1]})"));
}

TEST(FleetPage, RowsAreThoseThatFit) {
  const auto shown = page(some_fleet(), {.filters = {{"host", "old"}}});
  EXPECT_THAT(shown, HasSubstr(R"("gpus":{"host":[0],"id":["0"],"uuid":["GPU-s"])")) << "of the hosts that are listed";
  EXPECT_THAT(shown, HasSubstr(R"("hosts":[{"key":"old~9400","name":"old","instance":"old:9400","cluster":null,)"
                               R"("exporter":"dcgm","last_sample":null,"silent":true,"silent_seconds":240}])"));
  EXPECT_THAT(shown, HasSubstr(R"("gpus":[0],"hosts":[0]})"));
  EXPECT_THAT(shown, HasSubstr(R"("totals":{"hosts":1,"silent_hosts":1,"gpus":1,)"));
}

TEST(FleetPage, SaysHowOldItIs) {
  const auto old = page(some_fleet(), {}, {.trouble = "nobody there", .interval = 2s, .is_past = true});
  EXPECT_THAT(old, HasSubstr(R"("time":"2023-11-14T22:13:20.000Z","engine":"engine:9090","interval_seconds":2,)"
                             R"("is_past":true,"trouble":"nobody there",)"));
  EXPECT_THAT(page(some_fleet()), HasSubstr(R"("is_past":false,"trouble":null,"warning":null,)"));
}

TEST(FleetPage, HostileTextStaysText) {
  auto fleet = some_fleet();
  fleet.gpus[0].uuid = "</script>\"\n\xff";
  fleet.hosts[0].instance = "a\"}\\";
  const auto text = page(fleet);
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_THAT(text, HasSubstr("\"uuid\":[\"</script>\\\" \xEF\xBF\xBD\","));
  EXPECT_THAT(text, HasSubstr(R"("instance":"a\"}\\")"));
}

TEST(HostKey, IsReadableAndSafeInAPath) {
  EXPECT_EQ(host_key("node1:9837"), "node1");
  EXPECT_EQ(host_key("gpu-7.rack.example:9837"), "gpu-7.rack.example");
  EXPECT_EQ(host_key("node1:9400"), "node1~9400");
  EXPECT_EQ(host_key("[::1]:9837"), "_5b~~1_5d");
  EXPECT_EQ(host_key("a b/..%2f:9837"), "a_20b_2f.._252f");
  EXPECT_EQ(host_key(".."), "_2e.~");
  EXPECT_EQ(host_key(""), "~");
  EXPECT_NE(host_key("node1"), host_key("node1:9837"));
  EXPECT_NE(host_key("a_20b:9837"), host_key("a b:9837"));
}

TEST(HostKey, OfLongNamesAreToldApart) {
  const std::string one(5000, 'a'), other = std::string(4999, 'a') + "b";
  EXPECT_LT(host_key(one).size(), 300U);
  EXPECT_NE(host_key(one), host_key(other));
}

TEST(HostKey, FindsItsHost) {
  const auto fleet = some_fleet();
  EXPECT_EQ(find_host(fleet, "n1"), 0U);
  EXPECT_EQ(find_host(fleet, "old~9400"), 1U);
  EXPECT_EQ(find_host(fleet, "old"), std::nullopt);
  EXPECT_EQ(find_host(fleet, ""), std::nullopt);
}

}  // namespace
}  // namespace gpulse::fleet
