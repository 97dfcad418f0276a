// SPDX-License-Identifier: Apache-2.0
// CSV, explain and doctor, the shortening of values, and the rule that no view names a metric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "test_paths.hpp"
#include "view/cell.hpp"
#include "view/csv.hpp"
#include "view/doctor.hpp"
#include "view/explain.hpp"
#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using ::testing::HasSubstr;
using testing::kGiB;
using testing::make_snapshot;
using ::testing::Not;

std::string csv_of(const Snapshot &snapshot, const std::vector<std::string> &fields) {
  const auto columns = csv_columns(fields);
  if (!columns) return columns.error().line();
  std::string text;
  write_csv_header(*columns, text);
  write_csv(snapshot, *columns, text);
  return text;
}

TEST(ValueCell, IdleTimeIsNotColouredAsLoad) {
  const auto colour = [](MetricId id) { return value_cell({}, describe(id), Reading(95)).spans.front().colour; };
  EXPECT_EQ(colour(host_metric("cpu_user_percent")), term::Colour::busy);
  EXPECT_EQ(colour(host_metric("cpu_idle_percent")), term::Colour::plain);
}

TEST(Csv, HasALinePerDeviceAndAColumnPerField) {
  auto snapshot = make_snapshot(2);
  snapshot.devices[1].row[device_metric("throttle_reasons")] = 0x44;
  snapshot.devices[1].row[device_metric("sm_active_percent")] = Reason::not_sampled;
  EXPECT_EQ(csv_of(snapshot,
                   {"time", "index", "utilization.gpu", "sm_active_percent", "throttle_reasons", "performance_state"}),
            "time,index,gpu_utilization_percent,sm_active_percent,throttle_reasons,performance_state\n"
            "2026-11-15T02:31:18.730Z,0,99,80.94,none,P0\n"
            "2026-11-15T02:31:18.730Z,1,99,,power cap|hw thermal,P0\n");
}

TEST(Csv, QuotesWhatWouldMislead) {
  auto snapshot = make_snapshot(0);
  for (const auto *name : {"a,b", "say \"x\"", "two\nlines", " blank", "plain"}) {
    snapshot.devices.push_back(testing::make_device(0, name));
  }
  EXPECT_EQ(csv_of(snapshot, {"name", "index"}),
            "name,index\n\"a,b\",0\n\"say \"\"x\"\"\",0\ntwo lines,0\n\" blank\",0\nplain,0\n");
}

TEST(Csv, WritesEveryNumberWhenNothingIsChosen) {
  const auto columns = csv_columns({});
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->size(), 4 + number_count(Scope::device));
}

TEST(Csv, RefusesAFieldThatIsNone) {
  EXPECT_EQ(csv_of(make_snapshot(1), {"colour"}), "no field 'colour': `gpulse explain` lists them");
  EXPECT_EQ(csv_of(make_snapshot(1), {"sm_actve"}), "no field 'sm_actve': did you mean sm_active_percent?");
  EXPECT_EQ(csv_of(make_snapshot(1), {"utilisation.gpu"}), "no field 'utilisation.gpu': did you mean utilization.gpu?");
  EXPECT_EQ(csv_of(make_snapshot(1), {"host.cpu_percnt"}),
            "no field 'host.cpu_percnt': did you mean host.cpu_percent?");
}

TEST(Explain, SaysWhatAMetricMeans) {
  const auto text = explain("utilization.gpu", {.width = 80});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("gpu_utilization_percent  device, activity"));
  EXPECT_THAT(*text, HasSubstr("  Prometheus    gpulse_gpu_utilization_ratio\n"));
  EXPECT_THAT(*text, HasSubstr("  nvidia-smi    utilization.gpu\n"));
  const auto heat = explain("gpulse_temperature_gpu_celsius", {.width = 80});
  ASSERT_TRUE(heat);
  EXPECT_THAT(*heat, HasSubstr("  thresholds    worth a look from 80 °C, bad from 90 °C\n"));
}

TEST(Explain, TellsOfEveryScopeThatHasTheName) {
  const auto text = explain("cpu_percent", {});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("cpu_percent  process"));
  EXPECT_THAT(*text, HasSubstr("cpu_percent  host"));
  EXPECT_THAT(*text, HasSubstr("cpu_percent  self"));
}

TEST(Explain, NamesTheNearestOnATypo) {
  const auto complaint = [](std::string_view name) { return explain(name, {}).error().line(); };
  EXPECT_EQ(complaint("power_drwa_watts"), "no metric or finding 'power_drwa_watts': did you mean power_draw_watts?");
  EXPECT_EQ(complaint("sm_actve"), "no metric or finding 'sm_actve': did you mean sm_active_percent?");
  EXPECT_EQ(complaint("throttl"), "no metric or finding 'throttl': did you mean throttle_reasons?");
  EXPECT_EQ(complaint("zzzzzzzz"), "no metric or finding 'zzzzzzzz': `gpulse explain` lists them");
}

TEST(Explain, SaysWhatAFindingMeans) {
  const auto text = explain("oom", {.width = 80});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, ::testing::StartsWith("out-of-memory  a job ran out of GPU memory\n"));
  EXPECT_THAT(*text, HasSubstr("\n  told by       The job ended"));
  EXPECT_THAT(*text, HasSubstr("\n  what to do    1. First step too big"));
  EXPECT_THAT(*text, HasSubstr("\n                2. Growth: see `gpulse explain memory-leak`.\n"));
  EXPECT_THAT(*text, HasSubstr("\n  also called   oom\n"));
  EXPECT_EQ(*explain("OOM", {}), *explain("out-of-memory", {}));
  const auto calm = explain("healthy", {});
  ASSERT_TRUE(calm);
  EXPECT_THAT(*calm, ::testing::Not(HasSubstr("what to do"))) << "there is nothing to mend";
  EXPECT_EQ(explain("lunch-bound", {}).error().line(),
            "no metric or finding 'lunch-bound': did you mean launch-bound?");
}

TEST(Explain, KnowsDriverErrors) {
  EXPECT_EQ(*explain_xid(31, {.width = 100}),
            "XID 31  the program's fault, the device is fine\n"
            "  a memory page fault: the program used an address it does not own\n"
            "  what to do    the program is at fault: run it under compute-sanitizer\n");
  EXPECT_FALSE(explain_xid(9999, {}));
}

TEST(Doctor, TellsWhatIsMissingAndWhatWouldGiveIt) {
  auto snapshot = make_snapshot(3);
  for (auto &device : snapshot.devices) device.row.fill(1.0);
  for (const auto index : {0U, 2U}) snapshot.devices[index].row[device_metric("energy_joules")] = Reason::no_permission;
  snapshot.sources = {{"nvml", "", "", 3}, {"intel", "closed to users", "ask root", 0}};
  snapshot.self[self_metric("sample_seconds")] = 0.0123;
  const ReaderCost costs[] = {{"cheap", "tick", 0.4, false}, {"dear", "slow", 20712, true}};
  const auto text = render_doctor(snapshot, costs, {.style = {.width = 100}});
  EXPECT_THAT(
      text, HasSubstr("  nvml      3 devices\n  intel     0 devices\n    closed to users\n    what to do: ask root\n"));
  EXPECT_THAT(text, HasSubstr(fmt::format("  no permission on GPU 0, 2: 1 of {}\n", number_count(Scope::device))));
  EXPECT_THAT(text, HasSubstr("    energy_joules\n"));
  EXPECT_THAT(text, HasSubstr("  12.3 ms           Time the last sample took\n"));
  EXPECT_LT(text.find("dear"), text.find("cheap"));
  EXPECT_THAT(text, HasSubstr("slowed down"));
}

TEST(Doctor, BeginsWithAVerdictAndWhatToDoFirst) {
  auto snapshot = make_snapshot(2);
  for (auto &device : snapshot.devices) device.row.fill(1.0);
  const DoctorOptions with_agent{.agent = AgentNote{.folder = "/run/gpulse", .pid = 7}};
  EXPECT_THAT(render_doctor(snapshot, {}, with_agent),
              ::testing::StartsWith("2 GPUs are seen, and nothing stands in the way.\n\nAgent\n"));
  const auto alone = render_doctor(snapshot, {}, {.style = {.width = 200}});
  EXPECT_THAT(alone,
              ::testing::StartsWith("2 GPUs are seen; 1 thing could be better.\n\nWhat to do first\n  no agent runs"));
  EXPECT_THAT(alone, HasSubstr("systemctl enable --now gpulse, or gpulse serve\n"));
  EXPECT_THAT(render_doctor(make_snapshot(0), {}, {}),
              ::testing::AllOf(::testing::StartsWith("No GPU found.\n"), HasSubstr("gpulse top --demo")));
}

TEST(Doctor, DoesNotMissWhatOnlyOtherVendorsHave) {
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row.fill(1.0);
  snapshot.devices[0].row[device_metric("energy_joules")] = Reason::not_supported;
  snapshot.devices[0].row[device_metric("fan_speed_percent")] = Reason::not_supported;
  DoctorOptions options;
  EXPECT_THAT(render_doctor(snapshot, {}, options), HasSubstr(fmt::format("2 of {}", number_count(Scope::device))));
  options.readable[snapshot.devices[0].identity->source] = {device_metric("energy_joules"),
                                                            device_metric("power_draw_watts")};
  const auto text = render_doctor(snapshot, {}, options);
  EXPECT_THAT(text, HasSubstr("not supported on GPU 0: 1 of 2\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("fan_speed_percent")));
}

TEST(Doctor, SaysSoWhenNothingIsMissing) {
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row.fill(1.0);
  EXPECT_THAT(render_doctor(snapshot, {}, {}), HasSubstr("none: every reading is there"));
  EXPECT_THAT(render_doctor(make_snapshot(0), {}, {}), HasSubstr("no GPU found"));
}

TEST(ShortValues, AreShort) {
  EXPECT_EQ(short_bytes(0), "0B");
  EXPECT_EQ(short_bytes(512), "512B");
  EXPECT_EQ(short_bytes(9.75 * kGiB), "9.8G");
  EXPECT_EQ(short_bytes(140.4 * kGiB), "140G");
  EXPECT_EQ(short_bytes(1007.5 * kGiB), "1.0T");
  EXPECT_EQ(short_share(0, 80 * kGiB), "0/80.0G");
  EXPECT_EQ(short_share(4096.0 * 1024, 80 * kGiB), "4.0M/80.0G");
  EXPECT_EQ(short_share(5.04 * kGiB, 140.4 * kGiB), "5.0/140G");
  EXPECT_EQ(short_share(112.4 * kGiB, 140.4 * kGiB), "112/140G");
  EXPECT_EQ(short_duration(42), "0:42");
  EXPECT_EQ(short_duration(11275), "3:07:55");
  EXPECT_EQ(short_duration(1'053'000), "12d 04h");
}

TEST(ShortName, DropsTheVendorsWord) {
  const auto name = [](std::string vendor, std::string full) {
    DeviceIdentity identity;
    identity.vendor = std::move(vendor);
    identity.name = std::move(full);
    return short_name(identity);
  };
  EXPECT_EQ(name("nvidia", "NVIDIA GeForce RTX 4090"), "GeForce RTX 4090");
  EXPECT_EQ(name("intel", "Intel(R) Arc(TM) A770 Graphics"), "Arc A770 Graphics");
  EXPECT_EQ(name("amd", "Radeon RX 7900 XTX"), "Radeon RX 7900 XTX");
  EXPECT_EQ(name("nvidia", "NVIDIA"), "NVIDIA");
  EXPECT_EQ(name("amd", ""), "amd");
}

// A view that names a metric would have to be changed when the table changes.
TEST(Views, NameNoMetric) {
  for (const auto &entry : std::filesystem::directory_iterator(kSourceDir + "/src/view")) {
    const auto path = entry.path().filename().string();
    if (entry.path().extension() == ".txt" || path.ends_with("_test.cpp") || path == "testing.hpp") continue;
    std::ifstream stream(entry.path());
    std::stringstream text;
    text << stream.rdbuf();
    for (const auto &metric : kMetrics) {
      // What a device has as well.
      if (metric.key == "name" || metric.key == "parent") continue;
      EXPECT_THAT(text.str(), Not(HasSubstr(fmt::format("\"{}\"", metric.key)))) << path;
    }
  }
}

}  // namespace
}  // namespace gpulse::view
