// SPDX-License-Identifier: Apache-2.0
// What a scraper gets of the agent: counted, found, held, and nothing old as if it were new.
#include "view/scrape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::kGiB;
using testing::make_process;
using testing::make_snapshot;
using ::testing::Not;

constexpr auto kBegin = Monotonic(1000h);
constexpr std::string_view kFirst = R"({gpu="0",uuid="GPU-00000000-0000",vendor="nvidia")";

class ScrapeTest : public ::testing::Test {
 protected:
  std::string text(Exposition exposition = Exposition::text, bool processes = false) {
    const auto report = tally_.report();
    const auto owners = insight::owners(now_, pods_);
    return ScrapeView(exposition, processes)
        .write({.snapshot = &now_, .is_fresh = fresh_, .tally = report, .owners = owners, .agent = agent_});
  }
  void add(std::chrono::nanoseconds at) { tally_.add(now_, 1s, kBegin + at); }

  Snapshot now_ = make_snapshot(2);
  insight::Tally tally_;
  std::vector<PodDevice> pods_;
  AgentNumbers agent_{.version = "1.2.3"};
  bool fresh_ = true;
};

std::string line(std::string_view name, std::string_view labels, std::string_view value) {
  return fmt::format("\n{}{}}} {}\n", name, labels, value);
}

TEST_F(ScrapeTest, CountersAndPeaksStandBesideTheReadings) {
  now_.devices[0].row[device_metric("throttle_reasons")] = 4 + 1;
  add(0s);
  now_.devices[0].row[device_metric("gpu_utilization_percent")] = 50;
  add(2s);
  const auto page = text();
  EXPECT_THAT(page, HasSubstr(line("gpulse_gpu_utilization_ratio", kFirst, "0.5")));
  EXPECT_THAT(page, HasSubstr("# TYPE gpulse_busy_seconds_total counter\n"));
  EXPECT_THAT(page, HasSubstr(line("gpulse_busy_seconds_total", kFirst, "1")));
  EXPECT_THAT(page, HasSubstr("# HELP gpulse_gpu_utilization_peak_ratio Share of time with any kernel running: the "
                              "highest of the last 60 seconds\n"));
  EXPECT_THAT(page, HasSubstr(line("gpulse_gpu_utilization_peak_ratio", kFirst, "0.99")));
  EXPECT_THAT(page, HasSubstr(line("gpulse_pcie_rx_bytes_total", kFirst, "6400000000")));
  EXPECT_THAT(page, HasSubstr(line("gpulse_energy_joules_total", kFirst, "1381.4")));
  const auto held = std::string(kFirst) + R"(,reason="power cap")";
  EXPECT_THAT(page, HasSubstr(line("gpulse_throttled_seconds_total", held, "2")));
  const auto brake = std::string(kFirst) + R"(,reason="power brake")";
  EXPECT_THAT(page, HasSubstr(line("gpulse_throttled_seconds_total", brake, "0")));
  EXPECT_THAT(page, Not(HasSubstr(R"(reason="idle")"))) << "that is no fault, and would spoil the sum";
}

TEST_F(ScrapeTest, TheDriversOwnCountIsShownAsItIs) {
  now_.devices[1].row[device_metric("energy_joules")] = 5e6;
  add(0s);
  add(1s);
  const auto page = text();
  EXPECT_THAT(page, HasSubstr(line("gpulse_energy_joules_total", kFirst, "690.7") +
                              R"(gpulse_energy_joules_total{gpu="1",uuid="GPU-00000001-0000",vendor="nvidia"} 5000000)"
                              "\n"));
}

TEST_F(ScrapeTest, OpenMetricsIsTheSameInOtherHeads) {
  add(0s);
  const auto series = [](const std::string &page) {
    std::set<std::string> lines;
    std::istringstream in(page);
    for (std::string one; std::getline(in, one);) {
      if (!one.starts_with('#')) lines.insert(one);
    }
    return lines;
  };
  const auto open = text(Exposition::openmetrics);
  EXPECT_THAT(open, EndsWith("\n# EOF\n"));
  EXPECT_THAT(open, HasSubstr("# TYPE gpulse_busy_seconds counter\n# UNIT gpulse_busy_seconds seconds\n"
                              "gpulse_busy_seconds_total{"));
  EXPECT_THAT(text(), Not(HasSubstr("# EOF")));
  EXPECT_EQ(series(open), series(text()));
}

TEST_F(ScrapeTest, XidsFindingsAndOwners) {
  now_.events = std::vector<Event>{
      {.time = now_.time, .device = "GPU-00000000-0000", .kind = EventKind::xid, .code = 79, .text = {}}};
  add(0s);
  insight::LastingFinding lasting{.number = 1,
                                  .finding = {.id = insight::FindingId::hung, .weight = insight::Weight::problem}};
  lasting.finding.devices = {{.index = 0}};
  lasting.finding.lost_share = 0.5;
  tally_.set_findings(std::vector{lasting});
  add(1s);
  pods_ = {{"GPU-00000001-0000", "research", "train-0", "main"}};
  const auto page = text();
  const auto xid = std::string(kFirst) + R"(,xid="79")";
  EXPECT_THAT(page, HasSubstr(line("gpulse_xid_errors_total", xid, "1")));
  EXPECT_THAT(page, HasSubstr(line("gpulse_xid_last_timestamp_seconds", xid, "1794709878.73")));
  EXPECT_THAT(page,
              HasSubstr("\ngpulse_finding{uuid=\"GPU-00000000-0000\",finding=\"hung\",severity=\"problem\"} 1\n"));
  EXPECT_THAT(page,
              HasSubstr("\ngpulse_finding_lost_seconds_total{uuid=\"GPU-00000000-0000\",finding=\"hung\"} 0.5\n"));
  EXPECT_THAT(page, HasSubstr("\ngpulse_gpu_owner_info{uuid=\"GPU-00000000-0000\",user=\"ann\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("\ngpulse_gpu_owner_info{uuid=\"GPU-00000001-0000\",gpu_pod=\"train-0\","
                              "gpu_namespace=\"research\",gpu_container=\"main\"} 1\n"));
}

TEST_F(ScrapeTest, ALostDeviceHasItsStateAndItsErrorsOnly) {
  add(0s);
  now_.events = std::vector<Event>{
      {.time = now_.time, .device = "GPU-00000000-0000", .kind = EventKind::xid, .code = 79, .text = {}}};
  now_.devices[0].state = DeviceState::lost;
  now_.devices[0].row.fill(Reason::lost);
  now_.processes.erase(now_.processes.begin());
  add(1s);
  std::set<std::string> families;
  std::istringstream in(text());
  for (std::string one; std::getline(in, one);) {
    if (!one.starts_with('#') && one.find("GPU-00000000-0000") != std::string::npos) {
      families.insert(one.substr(0, one.find('{')));
    }
  }
  EXPECT_EQ(families, (std::set<std::string>{"gpulse_gpu_info", "gpulse_gpu_state", "gpulse_xid_errors_total",
                                             "gpulse_xid_last_timestamp_seconds"}));
}

TEST_F(ScrapeTest, WhatIsOldIsNotShownAsNew) {
  add(0s);
  EXPECT_THAT(text(), HasSubstr("\ngpulse_up 1\n"));
  fresh_ = false;
  const auto page = text();
  EXPECT_THAT(page, HasSubstr("\ngpulse_up 0\n"));
  EXPECT_THAT(page, HasSubstr("gpulse_sample_timestamp_seconds 1794709878.73\n"));
  EXPECT_THAT(page, Not(HasSubstr("uuid=")));
  EXPECT_THAT(page, Not(HasSubstr("gpulse_host")));
}

TEST_F(ScrapeTest, ProcessesAreAskedForAndHaveAnEnd) {
  now_.processes.clear();
  for (std::uint32_t i = 0; i < 400; ++i) {
    auto process = make_process(1000 + i, i % 2, "python3 train.py --token secret");
    process.row[process_metric("gpu_memory_bytes")] = (1000 + i) * kGiB;
    now_.processes.push_back(std::move(process));
  }
  add(0s);
  EXPECT_THAT(text(), Not(HasSubstr("pid=")));
  const auto page = text(Exposition::text, true);
  EXPECT_THAT(page, Not(HasSubstr("secret")));
  std::size_t series = 0;
  std::istringstream in(page);
  for (std::string one; std::getline(in, one);)
    if (one.starts_with("gpulse_process_gpu_memory_bytes{")) ++series;
  EXPECT_EQ(series, 256U);
  EXPECT_THAT(page, HasSubstr("{uuid=\"GPU-00000001-0000\",pid=\"1399\",user=\"ann\",name=\"python3\"} "));
  EXPECT_THAT(page, Not(HasSubstr("pid=\"1100\"")));
}

TEST_F(ScrapeTest, HostileNamesStayInTheirLabels) {
  TextRow texts(Scope::process);
  texts[process_metric("user")] = std::string("x\"} 1\nevil 1\n\\");
  texts[process_metric("name")] = std::string(200, '"');
  texts[process_metric("job")] = std::string("\xff\xfe{}\t");
  now_.processes[0].texts = std::make_shared<TextRow>(std::move(texts));
  pods_ = {{"GPU-00000001-0000", "a\"b", "c\\", "\n"}};
  add(0s);
  std::istringstream in(text(Exposition::text, true));
  for (std::string one; std::getline(in, one);) EXPECT_TRUE(one.starts_with("# ") || one.starts_with("gpulse_")) << one;
  EXPECT_THAT(text(), HasSubstr(R"(user="x\"} 1 evil 1 \\")"));
  EXPECT_THAT(text(Exposition::text, true), Not(HasSubstr(std::string(129, '"')))) << "the name is cut";
}

TEST_F(ScrapeTest, TheAgentSpeaksOfItself) {
  agent_.calls = {{.source = "nvml", .call = "nvmlDeviceGetPowerUsage", .calls = 4, .time = 1500us}};
  agent_.history = AgentNumbers::History{.kept = 10, .lost = 2, .waiting = 1};
  add(0s);
  add(1500ms);
  const auto page = text();
  for (const auto *wanted : {"gpulse_build_info{version=\"1.2.3\"} 1", "gpulse_self_samples_total 2",
                             "gpulse_self_late_seconds_total 0.5", "gpulse_self_late_peak_seconds 0.5",
                             "gpulse_self_call_seconds_total{source=\"nvml\",call=\"nvmlDeviceGetPowerUsage\"} 0.0015",
                             "gpulse_self_calls_total{source=\"nvml\",call=\"nvmlDeviceGetPowerUsage\"} 4",
                             "gpulse_self_history_samples_total 10", "gpulse_self_history_dropped_total 2",
                             "gpulse_self_history_waiting 1", "gpulse_self_released 0"}) {
    EXPECT_THAT(page, HasSubstr(fmt::format("\n{}\n", wanted)));
  }
}

TEST_F(ScrapeTest, ABriefPageHasTheWordsThatAreSoAndTheFirst) {
  auto &row = now_.devices[0].row;
  row[device_metric("throttle_reasons")] = 4 + 32;
  row[device_metric("fp16_active_percent")] = 12;
  now_.devices[1].state = DeviceState::asleep;
  add(0s);
  add(2s);
  agent_.calls = {{.source = "nvml", .call = "nvmlDeviceGetPowerUsage", .calls = 7, .time = 1s}};
  const auto report = tally_.report();
  const auto page = ScrapeView(Exposition::text, false, usual_page())
                        .write({.snapshot = &now_, .is_fresh = true, .tally = report, .agent = agent_});
  const auto words = [&](std::string_view family, std::string_view gpu) {
    std::string all;
    std::istringstream in(page);
    for (std::string text; std::getline(in, text);) {
      if (!text.starts_with(fmt::format("{}{{gpu=\"{}\"", family, gpu))) continue;
      all += text.substr(text.find("nvidia\",") + 8) + " ";
    }
    return all;
  };
  EXPECT_EQ(words("gpulse_gpu_state", "0"), "state=\"ok\"} 1 ");
  EXPECT_EQ(words("gpulse_gpu_state", "1"), "state=\"ok\"} 0 state=\"asleep\"} 1 ");
  EXPECT_EQ(words("gpulse_throttle_reasons", "0"), "state=\"idle\"} 0 state=\"power cap\"} 1 state=\"sw thermal\"} 1 ");
  EXPECT_EQ(words("gpulse_throttle_reasons", "1"), "state=\"idle\"} 0 ") << "known, and none";
  EXPECT_EQ(words("gpulse_throttled_seconds_total", "0"), "reason=\"power cap\"} 2 reason=\"sw thermal\"} 2 ");
  EXPECT_THAT(page, HasSubstr(line("gpulse_energy_joules_total", kFirst, "1381.4")));
  EXPECT_THAT(page, HasSubstr(line("gpulse_power_draw_peak_watts", kFirst, "690.7")));
  for (const auto *left_out : {"gpulse_fp16_active_ratio", "gpulse_pcie_rx_peak", "gpulse_self_calls_total"}) {
    EXPECT_THAT(page, Not(HasSubstr(left_out)));
  }
}

TEST(Scrape, WhatAPageHasIsSaidInWords) {
  const auto names = [](std::initializer_list<std::string> words) { return page_of(std::vector<std::string>(words)); };
  const auto fp16 = device_metric("fp16_active_percent");
  EXPECT_EQ(names({})->metrics, usual_page().metrics);
  EXPECT_FALSE(names({"usual"})->metrics.contains(fp16));
  EXPECT_TRUE(names({"usual", "fp16_active_percent"})->metrics.contains(fp16));
  EXPECT_TRUE(names({"all"})->metrics.contains(fp16));
  EXPECT_FALSE(names({"all"})->is_brief);
  const auto few = names({"power_draw_watts"});
  EXPECT_TRUE(few->peaks.contains(device_metric("power_draw_watts")));
  EXPECT_FALSE(few->metrics.contains(device_metric("gpu_utilization_percent")));
  EXPECT_THAT(names({"usual", "power_drow_watts"}).error().line(), HasSubstr("power_draw_watts"));
}

TEST(Scrape, BeforeTheFirstSampleThereIsAnAnswer) {
  const insight::TallyReport none;
  const AgentNumbers agent{.version = "1"};
  const auto page = ScrapeView(Exposition::text).write({.tally = none, .agent = agent});
  EXPECT_THAT(page, HasSubstr("gpulse_up 0\n"));
  EXPECT_THAT(page, HasSubstr("\ngpulse_self_samples_total 0\n"));
}

}  // namespace
}  // namespace gpulse::view
