// SPDX-License-Identifier: Apache-2.0
#include "view/job_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "term/width.hpp"
#include "view/job_report_svg.hpp"
#include "view/job_words.hpp"
#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using namespace std::chrono_literals;
using insight::JobEnergy;
using insight::JobGpu;
using insight::JobReport;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::kGiB;
using ::testing::Not;
using ::testing::StartsWith;

constexpr WallTime kBegin{1'794'790'800s};

// Ten minutes on one GPU of 80 GiB.
JobReport make_report() {
  JobReport report;
  report.command = {"python", "train.py", "a b"};
  report.hostname = "node7";
  report.begin = kBegin;
  report.end = kBegin + 10min;
  report.samples = 600;
  report.gpus_found = true;
  report.host_cores = 16;
  report.use = {.cpu_seconds = 1200, .read_bytes = 3 * kGiB, .written_bytes = Reason::no_permission, .memory_bytes = 0};
  report.memory_bytes = 12 * kGiB;
  JobGpu gpu;
  gpu.id.index = 3;
  gpu.identity = testing::make_device(3).identity;
  gpu.seconds = 540;
  gpu.busy_seconds = 270;
  gpu.utilization_percent = 50;
  gpu.activity_percent = Reason::not_supported;
  gpu.memory_bytes = 20 * kGiB;
  gpu.device_memory_bytes = 30 * kGiB;
  gpu.total_memory_bytes = 80 * kGiB;
  gpu.power_watts = 400;
  gpu.energy = JobEnergy{.joules = 216'000, .least = 215'000, .most = 217'000, .counted = true};
  gpu.power.add(0, 600, 400);
  report.gpus.push_back(gpu);
  return report;
}

insight::JobFinding make_finding() {
  insight::JobFinding found;
  found.finding = {.id = insight::FindingId::input_cpu,
                   .weight = insight::Weight::problem,
                   .confidence = 0.9,
                   .devices = {{3}},
                   .lost_share = 0.65,
                   .text = "The GPU waits for <its> input",
                   .evidence = {{"tree_busy_processes", 2}},
                   .advice = {"Try 8 workers & see."}};
  found.seconds = 120;
  found.stretches = {{60, 180}};
  return found;
}

std::string rendered(const JobReport &report, int width = 100, std::optional<insight::Price> price = {}) {
  return render_job_report(report, {.style = {.width = width}, .price = price});
}

TEST(TheTextOfAReport, SaysWhatTheJobUsed) {
  const auto text = rendered(make_report(), 100, insight::Price{.per_kwh = 0.5, .currency = "EUR"});
  EXPECT_THAT(text, StartsWith("gpulse: ended well after 10:00: python train.py 'a b'\n"));
  EXPECT_THAT(text, HasSubstr("  3  H200  9:00   50%"));
  EXPECT_THAT(text, HasSubstr("20.0/80.0G"));
  EXPECT_THAT(text, HasSubstr("  50.0G "));  // free: 80 less the 30 that were in use
  // 216 kJ are 60 Wh, at 0.5 a kWh.
  EXPECT_THAT(text, HasSubstr("energy    60.0 Wh (59.7–60.3 Wh), costs 0.0300 EUR\n"));
  EXPECT_THAT(text,
              HasSubstr("CPU       2.00 of 16 cores in the mean, 20:00 of CPU time, 12.0 GiB of memory at most\n"));
  EXPECT_THAT(text, HasSubstr("storage   3.0 GiB read from storage; written: no permission\n"));
  EXPECT_THAT(text, Not(HasSubstr("problem")));
}

TEST(TheTextOfAReport, FitsItsWidthAndHasPlainAscii) {
  auto report = make_report();
  report.findings.push_back(make_finding());
  report.phases = {{insight::PhaseKind::start_up, 0, 60}, {insight::PhaseKind::busy, 60, 600}};
  for (const int width : {40, 60, 80, 132}) {
    auto text = render_job_report(report, {.style = {.unicode = false, .width = width}});
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= 0; })) << text;
    for (std::string_view rest = text; !rest.empty();) EXPECT_LE(term::width(next_piece(rest, '\n')), width);
  }
  EXPECT_THAT(rendered(report), HasSubstr("problem input-cpu  GPU 3, 1:00–3:00\n  The GPU waits for <its> input.\n  "
                                          "Costs 65 % of GPU time: mended, at best 2.9 times as fast.\n  > Try 8"));
  EXPECT_THAT(rendered(report), HasSubstr("phases    start-up 1:00, busy 9:00\n"));
}

TEST(TheTextOfAReport, SaysInALineThatNoGpuWasUsed) {
  auto report = make_report();
  report.gpus.clear();
  EXPECT_THAT(rendered(report), HasSubstr("GPU       it used no GPU\n"));
  report.absence = "no GPU found: no driver";
  EXPECT_THAT(rendered(report), HasSubstr("GPU       no GPU found: no driver\n"));
  report.absence = {};
  report.samples = 0;
  EXPECT_THAT(rendered(report), EndsWith("GPU       it ended before the GPUs could be read\n"));
}

TEST(TheTextOfAReport, SaysHowTheJobEnded) {
  EXPECT_EQ(end_words({}), "ended well");
  EXPECT_EQ(end_words({.code = 3}), "failed with exit code 3");
  EXPECT_EQ(end_words({.code = 143, .signal = SIGTERM}), "was ended by signal 15 (TERM)");
}

TEST(TheJsonOfAReport, HasNumbersOrReasons) {
  auto report = make_report();
  report.findings.push_back(make_finding());
  const auto json = job_report_json(report, {});
  EXPECT_THAT(json, StartsWith(kJobJsonHead));
  EXPECT_THAT(json, HasSubstr(R"("duration_seconds":600,"exit_code":0,"signal":null)"));
  EXPECT_THAT(json, HasSubstr(R"("activity_mean_percent":null)"));
  EXPECT_THAT(json, HasSubstr(R"("unavailable":{"activity_mean_percent":"not supported"})"));
  EXPECT_THAT(json, HasSubstr(R"("unavailable":{"written_bytes":"no permission"})"));
  EXPECT_THAT(json, HasSubstr(R"("id":"input-cpu","severity":"problem","confidence":0.9)"));
  EXPECT_THAT(json, HasSubstr(R"("stretches":[{"since_seconds":60,"until_seconds":180}])"));
  EXPECT_THAT(json, Not(HasSubstr("cost")));
}

TEST(ThePageOfAReport, EscapesWhatComesFromOutside) {
  EXPECT_EQ(html_escaped("<a href=\"x\">&'\x1b"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39; ");
  auto report = make_report();
  report.findings.push_back(make_finding());
  report.command = {"<script>"};
  report.hostname = "<host>";
  const auto page = job_report_html(report, {});
  EXPECT_THAT(page, StartsWith(kJobHtmlHead));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("waits for &lt;its&gt; input"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, Not(HasSubstr("<host>")));
}

TEST(ThePageOfAReport, MarksFindingsInThePlots) {
  auto report = make_report();
  report.findings.push_back(make_finding());
  // The plot goes from 58 to 892: a minute of ten is 83.4.
  EXPECT_THAT(job_report_html(report, {}), HasSubstr(R"(<rect class="band problem" x="141.4" y="8" width="166.8")"));
}

}  // namespace
}  // namespace gpulse::view
