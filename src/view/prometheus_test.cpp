// SPDX-License-Identifier: Apache-2.0
// Prometheus' text: each family once with its head, each series once, base units, and no series for what is not known.
#include "view/prometheus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using ::testing::HasSubstr;
using testing::make_device;
using testing::make_snapshot;
using ::testing::Not;
using ::testing::StartsWith;

MetricSet everything() { return *prometheus_fields({}); }

std::string text_of(const Snapshot &snapshot, const MetricSet &metrics = everything()) {
  std::string out;
  PrometheusView(metrics).write(snapshot, out);
  return out;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(PrometheusView, AFamilyHasItsHeadAndALinePerDevice) {
  const auto text = text_of(make_snapshot(2), {device_metric("gpu_utilization_percent")});
  EXPECT_THAT(text, StartsWith(kPrometheusHead));
  EXPECT_THAT(text, HasSubstr("# HELP gpulse_gpu_utilization_ratio Share of time with any kernel running\n"
                              "# TYPE gpulse_gpu_utilization_ratio gauge\n"
                              R"(gpulse_gpu_utilization_ratio{gpu="0",uuid="GPU-00000000-0000",vendor="nvidia"} 0.99)"
                              "\n"
                              R"(gpulse_gpu_utilization_ratio{gpu="1",uuid="GPU-00000001-0000",vendor="nvidia"} 0.99)"
                              "\n"));
  EXPECT_THAT(text, HasSubstr("\ngpulse_sample_timestamp_seconds 1794709878.73\n"));
  EXPECT_THAT(text, HasSubstr("\ngpulse_gpus 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("gpulse_host")));
}

TEST(PrometheusView, UnitsAreBaseUnitsWithoutNoise) {
  auto snapshot = make_snapshot(1);
  auto &row = snapshot.devices[0].row;
  row[device_metric("gpu_utilization_percent")] = 57;
  row[device_metric("clock_graphics_mhz")] = 1980;
  row[device_metric("memory_bus_width_bits")] = 5120;
  row[device_metric("energy_joules")] = 1.5e9 + 0.25;
  const auto text = text_of(snapshot);
  constexpr std::string_view kLabels = R"({gpu="0",uuid="GPU-00000000-0000",vendor="nvidia"} )";
  for (const auto &[family, value] :
       {std::pair("gpulse_gpu_utilization_ratio", "0.57"), std::pair("gpulse_clock_graphics_hertz", "1980000000"),
        std::pair("gpulse_memory_bus_width_bytes", "640"), std::pair("gpulse_power_draw_watts", "690.7"),
        std::pair("gpulse_energy_joules_total", "1500000000.25")}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\n{}{}{}\n", family, kLabels, value)));
  }
  EXPECT_THAT(text, HasSubstr("\n# TYPE gpulse_energy_joules_total counter\n"));
  EXPECT_THAT(text, HasSubstr("\ngpulse_host_cpu_ratio 0.125\n"));
}

TEST(PrometheusView, WhatIsNotKnownHasNoSeries) {
  auto snapshot = make_snapshot(2);
  snapshot.devices[0].row.fill(Reason::lost);
  snapshot.devices[0].state = DeviceState::lost;
  snapshot.devices[1].row.fill(Reason::not_supported);
  snapshot.devices[1].row[device_metric("temperature_gpu_celsius")] = 0;
  snapshot.host.fill(Reason::not_sampled);
  snapshot.time = {};
  std::set<std::string> families;
  for (const auto &line : lines_of(text_of(snapshot))) {
    if (line.starts_with("# TYPE ")) families.insert(line.substr(7, line.find(' ', 7) - 7));
    EXPECT_THAT(line, Not(HasSubstr("null")));
  }
  EXPECT_EQ(families, (std::set<std::string>{"gpulse_gpus", "gpulse_gpu_info", "gpulse_gpu_state",
                                             "gpulse_temperature_gpu_celsius"}));
}

TEST(PrometheusView, AStateIsANumberASetASeriesForEachWord) {
  auto snapshot = make_snapshot(1);
  auto &row = snapshot.devices[0].row;
  row[device_metric("compute_mode")] = 3;
  row[device_metric("throttle_reasons")] = 4 + 0x8000;
  const auto text = text_of(snapshot);
  constexpr std::string_view kDevice = R"({gpu="0",uuid="GPU-00000000-0000",vendor="nvidia")";
  EXPECT_THAT(text, HasSubstr("(0: default, 1: exclusive thread, 2: prohibited, 3: exclusive process)\n"));
  EXPECT_THAT(text, HasSubstr(fmt::format("\ngpulse_compute_mode{}}} 3\n", kDevice)));
  EXPECT_THAT(text, HasSubstr(fmt::format("\ngpulse_throttle_reasons{},state=\"power cap\"}} 1\n", kDevice)));
  EXPECT_THAT(text, HasSubstr(fmt::format("\ngpulse_throttle_reasons{},state=\"hw slowdown\"}} 0\n", kDevice)));
  // One that the table has no word for.
  EXPECT_THAT(text, HasSubstr(fmt::format("\ngpulse_throttle_reasons{},state=\"bit 15\"}} 1\n", kDevice)));
  EXPECT_THAT(text, HasSubstr(fmt::format("\ngpulse_gpu_state{},state=\"ok\"}} 1\n", kDevice)));
  EXPECT_THAT(text, HasSubstr(fmt::format("\ngpulse_gpu_state{},state=\"lost\"}} 0\n", kDevice)));
}

TEST(PrometheusView, WhatADeviceIsStandsOnItsInfo) {
  auto snapshot = make_snapshot(1);
  auto identity = *snapshot.devices[0].identity;
  identity.name = R"(a "GPU" \ of mine)";
  identity.texts[device_metric("serial")] = std::string("42");
  snapshot.devices[0].identity = std::make_shared<DeviceIdentity>(identity);
  EXPECT_THAT(text_of(snapshot),
              HasSubstr("\n"
                        R"(gpulse_gpu_info{gpu="0",uuid="GPU-00000000-0000",vendor="nvidia",)"
                        R"(name="a \"GPU\" \\ of mine",driver="580.159.04",pci="0000:06:00.0",serial="42"} 1)"
                        "\n"));
  EXPECT_THAT(text_of(snapshot, {device_metric("power_draw_watts")}), Not(HasSubstr("serial")));
}

TEST(PrometheusView, NoSeriesComesTwice) {
  auto snapshot = make_snapshot(2);
  snapshot.devices.push_back(make_device(1));
  auto instance = make_device(1);
  instance.id.instance = 0;
  snapshot.devices.push_back(instance);
  std::set<std::string> seen;
  const auto lines = lines_of(text_of(snapshot));
  for (const auto &line : lines) {
    EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("gpulse_power_draw_watts{gpu=\"1:0\"")));
}

TEST(PrometheusView, WhatIsKeptIsNotShownForAnotherDevice) {
  PrometheusView view({device_metric("power_draw_watts")});
  for (const std::uint32_t devices : {1U, 3U, 2U, 0U}) {
    const auto snapshot = make_snapshot(devices);
    std::string again;
    view.write(snapshot, again);
    EXPECT_EQ(again, text_of(snapshot, {device_metric("power_draw_watts")})) << devices;
  }
}

TEST(PrometheusView, ProcessesAreNoFields) {
  const std::vector<std::string> good{"time", "power.draw", "host.cpu_percent"};
  EXPECT_EQ(*prometheus_fields(good), (MetricSet{device_metric("power_draw_watts"), host_metric("cpu_percent")}));
  EXPECT_FALSE(prometheus_fields(std::vector<std::string>{"process.user"}));
  EXPECT_FALSE(prometheus_fields(std::vector<std::string>{"no_such_metric"}));
  EXPECT_FALSE(everything().contains_any(Scope::process));
}

}  // namespace
}  // namespace gpulse::view
