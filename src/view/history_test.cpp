// SPDX-License-Identifier: Apache-2.0
#include "view/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "term/width.hpp"
#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::kGiB;
using testing::make_device;
using testing::make_process;
using ::testing::Not;

constexpr auto kUtilization = device_metric("gpu_utilization_percent");
constexpr auto kCpu = host_metric("cpu_percent");
constexpr auto kLimit = device_metric("power_limit_watts");

// date -ud '2026-11-16 01:00:00' +%s
const WallTime kOne{1794790800s};

class AHistoryPage : public ::testing::Test {
 protected:
  void SetUp() override {
    set_zone("UTC");
    page_.hostname = "node7";
    page_.from = kOne;
    page_.to = kOne + 8min;
    page_.devices = {make_device(3)};
  }
  void TearDown() override { set_zone(nullptr); }

  static void set_zone(const char *name) {
    name == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", name, 1);
    ::tzset();
  }
  // One value for a minute each.
  static HistoryCurve minutes(MetricId id, std::vector<std::pair<int, double>> values) {
    HistoryCurve curve{.metric = id};
    for (const auto &[minute, value] : values)
      curve.points.push_back({kOne + std::chrono::minutes(minute), value, value, value});
    return curve;
  }
  void add_curves(std::vector<MetricId> metrics, std::vector<HistoryCurve> curves) {
    page_.curves = HistoryPage::Curves{
        .metrics = std::move(metrics), .origin = "1 min steps", .step = 60s, .reach = 60s, .curves = std::move(curves)};
  }
  std::string csv(bool range = false) const {
    std::string out;
    write_history_csv(page_, range, [&](std::string_view piece) { return out += piece, true; });
    return out;
  }
  std::string json() const {
    std::string out;
    write_history_json(page_, [&](std::string_view piece) { return out += piece, true; });
    return out;
  }

  HistoryPage page_;
  term::Style ascii_{.colour = false, .unicode = false, .width = 80};
};

HistoryProcess use_of(std::uint32_t pid, const char *user, double percent, double seconds) {
  HistoryProcess use{.process = make_process(pid, 3, "train.py", user), .first = kOne - 1h, .last = kOne + 5min};
  use.seconds = seconds;
  use.process.row[process_metric("gpu_utilization_percent")] = percent;
  use.process.row[process_metric("gpu_memory_bytes")] = 10 * kGiB;
  use.most[process_metric("gpu_memory_bytes")] = 12 * kGiB;
  return use;
}

// A minute is six columns wide; a plot of three lines has nine heights, of which 0 has the first.
TEST_F(AHistoryPage, DrawsGapsAsGapsAndZeroAsZero) {
  add_curves({kUtilization}, {minutes(kUtilization, {{0, 0}, {1, 50}, {2, 100}, {5, 100}, {6, 25}, {7, 12.5}})});
  EXPECT_EQ(render_history(page_, ascii_),
            "node7  2026-11-16 01:00:00 - 01:08:00 UTC+00:00  from 1 min steps\n"
            "\n"
            "GPU 3  H200\n"
            "UTIL      100% |            ######            ######             max  100%\n"
            "               |      ======######            ######             mean 48%\n"
            "             0 |......############            ############====== min  0%\n"
            "                '01:00      '01:02      '01:04      '01:06\n");
}

TEST_F(AHistoryPage, KeepsToTheWidth) {
  add_curves({kUtilization}, {minutes(kUtilization, {{0, 0}, {7, 100}})});
  page_.processes = {use_of(1, "ann", 50, 60)};
  page_.lists_processes = true;
  page_.events = {Event{.time = kOne, .device = "", .kind = EventKind::xid, .code = 79, .text = std::string(300, 'x')}};
  page_.lost = {{kOne, kOne + 1min, 60, "the disk is full"}};
  for (const bool unicode : {false, true}) {
    for (int width = 1; width < 200; ++width) {
      const auto text = render_history(page_, {.colour = false, .unicode = unicode, .width = width});
      std::string_view rest = text;
      while (!rest.empty()) EXPECT_LE(term::width(next_piece(rest, '\n')), width);
    }
  }
}

// In Berlin the clocks went from 03:00 back to 02:00 at 01:00 UTC.
TEST_F(AHistoryPage, HasTheTimeAxisOfTheLocalClock) {
  set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
  page_.from = WallTime{1792879200s};  // 2026-10-24 22:00 UTC
  page_.to = page_.from + 6h;
  add_curves({kUtilization}, {});
  page_.curves->curves = {{.metric = kUtilization, .points = {{page_.from, 1, 1, 1}}}};
  const auto text = render_history(page_, ascii_);
  EXPECT_THAT(text, HasSubstr("2026-10-25 00:00 +02:00 - 05:00 +01:00"));
  // Eight columns are an hour; 02:00 comes twice, and has its tick at the first.
  EXPECT_THAT(text, HasSubstr("                'Oct 25 '01:00  '02:00          '03:00  '04:00\n"));
}

TEST_F(AHistoryPage, SaysOfWhatNothingIsKnown) {
  add_curves({kUtilization, kCpu}, {minutes(kCpu, {{0, 10}})});
  const auto text = render_history(page_, ascii_);
  EXPECT_THAT(text, HasSubstr("nothing is known of gpu_utilization_percent then"));
  EXPECT_THAT(text, HasSubstr("Host\nCPU "));
}

TEST_F(AHistoryPage, SaysWhatWasLostAndWhatWasNotRecorded) {
  page_.lost = {{kOne + 1min, kOne + 2min, 60, "the disk is full"}};
  page_.gaps = {{kOne + 3min, kOne + 4min}};
  page_.processes.emplace();
  page_.lists_processes = true;
  const auto text = render_history(page_, ascii_);
  EXPECT_THAT(text, HasSubstr("60 samples lost from 01:01:00 to 01:02:00: the disk is full\n"));
  EXPECT_THAT(text, HasSubstr("nothing was recorded from 01:03:00 to 01:04:00\n"));
  EXPECT_THAT(text, HasSubstr("no GPU processes\n"));
}

TEST_F(AHistoryPage, ListsWhoWasThere) {
  page_.processes = {use_of(4711, "ann", 50, 120)};
  page_.lists_processes = true;
  EXPECT_EQ(render_history(page_, ascii_),
            "node7  2026-11-16 01:00:00 - 01:08:00 UTC+00:00\n"
            "\n"
            "GPU   PID  USER   PEAK  GPU TIME  GPU%  FROM      TO        COMMAND\n"
            "  3  4711  ann   12.0G      1:00   50%  00:00:00  01:05:00  train.py\n");
}

TEST_F(AHistoryPage, CutsLongListsOnlyOnAPageWithEverything) {
  page_.processes.emplace();
  for (std::uint32_t i = 0; i < 5; ++i) page_.processes->push_back(use_of(100 + i, "ann", 50, 120));
  page_.lists_processes = true;
  EXPECT_THAT(render_history(page_, ascii_), Not(HasSubstr("more")));
  page_.most_rows = 3;
  EXPECT_THAT(render_history(page_, ascii_), HasSubstr("+2 more: --processes shows all\n"));
}

TEST_F(AHistoryPage, AddsUpUsers) {
  auto unknown = use_of(3, "bob", 0, 1800);
  unknown.process.row[process_metric("gpu_utilization_percent")] = Reason::not_supported;
  auto elsewhere = use_of(1, "ann", 100, 3600);
  elsewhere.device = 1;
  const std::vector<HistoryProcess> processes{use_of(1, "ann", 50, 3600), elsewhere, use_of(2, "ann", 10, 1800),
                                              use_of(4, "bob", 100, 3600), unknown};
  const auto totals = history_totals(processes, HistoryOwner::user);
  ASSERT_EQ(totals.size(), 2);
  EXPECT_EQ(totals[0].name, "ann");
  EXPECT_EQ(totals[0].processes, 2) << "the same one on two GPUs";
  EXPECT_EQ(totals[0].devices, 2);
  EXPECT_EQ(totals[0].gpu_seconds, 1800 + 3600 + 180);
  EXPECT_EQ(totals[0].byte_seconds, 10 * kGiB * 9000);
  EXPECT_FALSE(totals[0].is_least);
  EXPECT_EQ(totals[1].gpu_seconds, 3600);
  EXPECT_TRUE(totals[1].is_least) << "what the other one took is not known";
  const auto jobs = history_totals(processes, HistoryOwner::job);
  ASSERT_EQ(jobs.size(), 1);
  EXPECT_EQ(jobs[0].name, "");

  page_.processes = processes;
  page_.users = true;
  const auto text = render_history(page_, ascii_);
  EXPECT_THAT(text, HasSubstr("ann        1.55       25.0           2.50     2          2\n"));
  EXPECT_THAT(text, HasSubstr("bob      >=1.00       15.0           1.50     1          2\n"));
  EXPECT_EQ(history_totals_csv(page_, HistoryOwner::user),
            "user,processes,devices,seconds,gpu_seconds,memory_byte_seconds\n"
            "ann,2,2,9000,5580,96636764160000\n"
            "bob,2,1,5400,3600,57982058496000\n");
}

TEST_F(AHistoryPage, IsATableForPrograms) {
  auto held = minutes(kLimit, {{0, 700}, {2, 500}});
  held.holds = true;
  add_curves({kUtilization, kLimit, kCpu},
             {minutes(kUtilization, {{0, 1.25}, {3, 50}}), held, minutes(kCpu, {{0, 10}, {1, 20}})});
  page_.curves->curves[0].points[1].least = 40;
  page_.curves->curves[0].points[1].greatest = 60;
  EXPECT_EQ(csv(),
            "time,id,uuid,gpu_utilization_percent,power_limit_watts,host.cpu_percent\n"
            "2026-11-16T01:00:00.000Z,3,GPU-00000003-0000,1.25,700,10\n"
            "2026-11-16T01:03:00.000Z,3,GPU-00000003-0000,50,500,\n");
  EXPECT_THAT(csv(true),
              HasSubstr(",gpu_utilization_percent,gpu_utilization_percent_min,gpu_utilization_percent_max,"));
  EXPECT_THAT(csv(true), HasSubstr("2026-11-16T01:03:00.000Z,3,GPU-00000003-0000,50,40,60,500,500,500,,,\n"));
}

TEST_F(AHistoryPage, HasOneLineForATimeWhereOnlyTheHostIsAskedFor) {
  add_curves({kCpu}, {minutes(kCpu, {{0, 10}, {1, 20}})});
  EXPECT_EQ(csv(),
            "time,id,uuid,host.cpu_percent\n"
            "2026-11-16T01:00:00.000Z,,,10\n"
            "2026-11-16T01:01:00.000Z,,,20\n");
}

TEST_F(AHistoryPage, IsAnObjectPerTimeInTheFormOfJson) {
  add_curves({kUtilization, kCpu}, {minutes(kUtilization, {{0, 1.25}}), minutes(kCpu, {{0, 10}, {1, 20}})});
  const auto text = json();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_THAT(text, HasSubstr(R"({"schema":"gpulse/1","time":"2026-11-16T01:00:00.000Z","hostname":"node7")"));
  EXPECT_THAT(text, HasSubstr(R"("origin":"HISTORY","host":{"cpu_percent":10,"unavailable":{}},"devices":[{"id":"3")"));
  EXPECT_THAT(text, HasSubstr(R"("metrics":{"gpu_utilization_percent":1.25})"));
  EXPECT_THAT(text, HasSubstr(R"("host":{"cpu_percent":20,"unavailable":{}},"devices":[])"))
      << "nothing is known of it";
}

TEST_F(AHistoryPage, StopsWritingWhereNobodyReads) {
  std::vector<std::pair<int, double>> many;
  for (int i = 0; i < 10'000; ++i) many.emplace_back(i, 1);
  add_curves({kUtilization}, {minutes(kUtilization, many)});
  int pieces = 0;
  write_history_csv(page_, false, [&](std::string_view) { return ++pieces, false; });
  EXPECT_EQ(pieces, 1);
}

TEST_F(AHistoryPage, ListsEventsAndProcessesForPrograms) {
  page_.events = {
      Event{.time = kOne, .device = "GPU-00000003-0000", .kind = EventKind::xid, .code = 79, .text = "a, b"},
      Event{.time = kOne, .device = "", .kind = EventKind::power_source, .code = 0, .text = "battery"}};
  EXPECT_EQ(history_events_csv(page_),
            "time,id,uuid,kind,code,text\n"
            "2026-11-16T01:00:00.000Z,3,GPU-00000003-0000,xid,79,\"a, b\"\n"
            "2026-11-16T01:00:00.000Z,,,power,0,battery\n");
  page_.processes = {use_of(4711, "ann", 50, 120)};
  EXPECT_EQ(
      history_processes_json(page_),
      R"({"id":"3","uuid":"GPU-00000003-0000","pid":4711,"type":"compute","user":"ann","name":"python3",)"
      R"("program":null,"command":"train.py","container":null,"pod":null,"job":null,"account":null,"parent":null,)"
      R"("framework":null,)"
      R"("first":"2026-11-16T00:00:00.000Z","last":"2026-11-16T01:05:00.000Z","seconds":120,"gpu_seconds":60,)"
      R"("gpu_memory_bytes":10737418240,"gpu_memory_bytes_max":12884901888,"gpu_utilization_percent":50,)"
      R"("cpu_percent":101,"host_memory_bytes":13529146982.4,)"
      R"("tree_cpu_percent":null,"tree_read_bytes_per_second":null,"tree_write_bytes_per_second":null,)"
      R"("tree_disk_wait_percent":null})"
      "\n");
}

}  // namespace
}  // namespace gpulse::view
