// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ranges>

#include "view/prometheus.hpp"

namespace gpulse::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kNow = 1'700'000'000;

WallTime at(double seconds) { return WallTime(std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(seconds))); }

EngineSeries series(const char *name, std::vector<Label> labels, std::vector<EnginePoint> points) {
  labels.emplace_back("__name__", name);
  return {.labels = std::move(labels), .points = std::move(points)};
}
EngineSeries now(const char *name, std::vector<Label> labels, double value) {
  return series(name, std::move(labels), {{kNow, value}});
}
EngineSeries info(const char *uuid, const char *gpu) {
  return now("gpulse_gpu_info", {{"uuid", uuid}, {"gpu", gpu}, {"vendor", "nvidia"}, {"name", "NVIDIA H100"}}, 1);
}
std::vector<EngineSeries> taken(double time) { return {now("", {}, time)}; }

const HostPlace kHost{.instance = "n1:9837", .name = "n1", .exporter = Exporter::gpulse};
const HostPlace kForeign{.instance = "n2:9400", .name = "n2", .exporter = Exporter::dcgm};

Reading power(const Device &device) { return by_role(device.row, Role::power); }

TEST(HostSamples, AreInTheUnitsOfTheTable) {
  const std::vector all{info("GPU-a", "0"), now("gpulse_gpu_utilization_ratio", {{"uuid", "GPU-a"}}, 0.57),
                        now("gpulse_clock_sm_hertz", {{"uuid", "GPU-a"}}, 1.98e9),
                        now("gpulse_power_draw_watts", {{"uuid", "GPU-a"}}, 410.5),
                        now("gpulse_host_cpu_ratio", {}, 0.25)};
  const auto samples = host_samples(all, taken(kNow - 3), kHost);
  ASSERT_THAT(samples, SizeIs(1));
  const auto &snapshot = *samples[0].snapshot;
  EXPECT_EQ(snapshot.time, at(kNow - 3));  // by the host's clock
  EXPECT_EQ(snapshot.hostname.str(), "n1");
  ASSERT_THAT(snapshot.devices, SizeIs(1));
  const auto &device = snapshot.devices[0];
  EXPECT_EQ(device.identity->name.str(), "NVIDIA H100");
  EXPECT_DOUBLE_EQ(by_role(device.row, Role::utilization).value(), 57);
  EXPECT_DOUBLE_EQ(device.row[device_metric("clock_sm_mhz")].value(), 1980);
  EXPECT_DOUBLE_EQ(power(device).value(), 410.5);
  EXPECT_DOUBLE_EQ(by_role(snapshot.host, Role::cpu).value_or(-1), 25);
  EXPECT_TRUE(by_role(device.row, Role::temperature).is(Reason::not_sampled));
}

TEST(HostSamples, ThereIsOneForEachMomentWithSomethingNew) {
  auto gpu = info("GPU-a", "0");
  gpu.points = {{kNow, 1}, {kNow + 15, 1}, {kNow + 30, 1}};
  const std::vector all{
      gpu, series("gpulse_power_draw_watts", {{"uuid", "GPU-a"}}, {{kNow, 100}, {kNow + 15, 100}, {kNow + 30, 300}})};
  // Nothing came for the second: an engine goes on with the value before.
  const std::vector times{series("", {}, {{kNow, kNow - 1}, {kNow + 15, kNow - 1}, {kNow + 30, kNow + 29}})};
  const auto samples = host_samples(all, times, kHost);
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[1].snapshot->time, at(kNow + 29));
  EXPECT_DOUBLE_EQ(power(samples[0].snapshot->devices[0]).value(), 100);
  EXPECT_DOUBLE_EQ(power(samples[1].snapshot->devices[0]).value(), 300);
}

TEST(HostSamples, OfASetAllWordsAreToldApart) {
  const auto throttle = find_role(Scope::device, Role::throttle).value();
  const auto &words = describe(throttle).words;
  const auto name = prometheus_name(describe(throttle));
  const auto word = [&](std::string_view text, double value) {
    return now(name.c_str(), {{"uuid", "GPU-a"}, {"state", std::string(text)}}, value);
  };
  const std::vector all{info("GPU-a", "0"), word(words[0], 0), word(words[2], 1), word("bit 20", 1),
                        word("of a later version", 1)};
  const auto samples = host_samples(all, taken(kNow), kHost);
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_DOUBLE_EQ(samples[0].snapshot->devices[0].row[throttle].value(), (1 << 2) + (1 << 20));
}

TEST(HostSamples, NothingOldIsToldOfAGpuThatIsLost) {
  const std::vector all{info("GPU-a", "0"), now("gpulse_power_draw_watts", {{"uuid", "GPU-a"}}, 300),
                        now("gpulse_gpu_state", {{"uuid", "GPU-a"}, {"state", "ok"}}, 0),
                        now("gpulse_gpu_state", {{"uuid", "GPU-a"}, {"state", "lost"}}, 1)};
  const auto samples = host_samples(all, taken(kNow), kHost);
  const auto &device = samples.at(0).snapshot->devices.at(0);
  EXPECT_EQ(device.state, DeviceState::lost);
  EXPECT_TRUE(power(device).is(Reason::lost));
}

TEST(HostSamples, WhatCannotBeIsNotBelieved) {
  const std::vector all{info("GPU-a", "0"), now("gpulse_gpu_utilization_ratio", {{"uuid", "GPU-a"}}, 57),
                        now("gpulse_power_draw_watts", {{"uuid", "GPU-a"}}, std::numeric_limits<double>::infinity()),
                        now("gpulse_power_draw_watts", {{"uuid", "GPU-nobody"}}, 5)};
  const auto samples = host_samples(all, taken(kNow), kHost);
  ASSERT_THAT(samples.at(0).snapshot->devices, SizeIs(1));
  const auto &device = samples[0].snapshot->devices[0];
  EXPECT_FALSE(by_role(device.row, Role::utilization));
  EXPECT_FALSE(power(device));
}

TEST(HostSamples, FindingsAndErrorsComeAlong) {
  const std::vector all{
      info("GPU-a", "0"),
      now("gpulse_finding", {{"uuid", "GPU-a"}, {"finding", "input-cpu"}, {"severity", "problem"}}, 1),
      now("gpulse_finding", {{"uuid", "GPU-a"}, {"finding", "of-tomorrow\x1b[31m"}, {"severity", "note"}}, 1),
      now("gpulse_xid_last_timestamp_seconds", {{"uuid", "GPU-a"}, {"xid", "79"}}, kNow - 60)};
  const auto samples = host_samples(all, taken(kNow), kHost);
  ASSERT_THAT(samples, SizeIs(1));
  ASSERT_THAT(samples[0].findings, SizeIs(2));
  EXPECT_EQ(samples[0].findings[0].id, insight::FindingId::input_cpu);
  EXPECT_EQ(samples[0].findings[0].weight, insight::Weight::problem);
  EXPECT_EQ(samples[0].findings[1].text.find('\x1b'), std::string::npos);
  ASSERT_THAT(samples[0].snapshot->events, SizeIs(1));
  EXPECT_EQ(samples[0].snapshot->events[0].code, 79);
  EXPECT_EQ(samples[0].snapshot->events[0].time, at(kNow - 60));
}

TEST(HostSamples, OfTwoScrapersAreToldOnce) {
  std::vector<EngineSeries> all{info("GPU-a", "0")};
  for (const auto *replica : {"a", "b"}) {
    all.push_back(now("gpulse_finding",
                      {{"uuid", "GPU-a"}, {"finding", "input-cpu"}, {"severity", "note"}, {"replica", replica}}, 1));
    all.push_back(
        now("gpulse_xid_last_timestamp_seconds", {{"uuid", "GPU-a"}, {"xid", "79"}, {"replica", replica}}, kNow - 60));
  }
  all.push_back(now("gpulse_finding", {{"uuid", "GPU-a"}, {"finding", "input-cpu"}, {"severity", "problem"}}, 1));
  all.push_back(now("gpulse_finding", {{"finding", "input-cpu"}, {"severity", "note"}}, 1));
  all.push_back(now("gpulse_xid_last_timestamp_seconds", {{"uuid", "GPU-a"}, {"xid", "79"}}, kNow - 50));
  const auto samples = host_samples(all, taken(kNow), kHost);
  ASSERT_THAT(samples.at(0).findings, SizeIs(2)) << "of the GPU and of the machine";
  EXPECT_EQ(samples[0].findings[0].weight, insight::Weight::problem);
  EXPECT_THAT(samples[0].snapshot->events, SizeIs(2)) << "ten seconds apart";
}

TEST(HostSamples, OfAGpuThatChangesItsJobTheSumIsOfBothParts) {
  const auto of = [](const char *name, const char *job, double value) {
    return now(name, {{"UUID", "GPU-a"}, {"gpu", "0"}, {"hpc_job", job}}, value);
  };
  const std::vector all{of("DCGM_FI_DEV_FB_FREE", "1", 3000), of("DCGM_FI_DEV_FB_FREE", "2", 3000),
                        of("DCGM_FI_DEV_FB_USED", "2", 1000)};
  const auto samples = host_samples(all, taken(kNow), kForeign);
  constexpr double kMiB = 1 << 20;
  EXPECT_DOUBLE_EQ(by_role(samples.at(0).snapshot->devices.at(0).row, Role::memory_total).value(), 4000 * kMiB);
}

TEST(HostSamples, ProcessesAreThereWhereTheirSeriesAre) {
  const std::vector all{info("GPU-a", "0"),
                        now("gpulse_process_gpu_memory_bytes",
                            {{"uuid", "GPU-a"},
                             {"pid", "42"},
                             {"user", "ann"},
                             {"name", "python3"},
                             {"job", "scraper"},
                             {"pod", "agent-0"}},
                            4096),
                        now("gpulse_process_gpu_memory_bytes", {{"uuid", "GPU-a"}, {"pid", "none"}}, 1)};
  const auto samples = host_samples(all, taken(kNow), kHost);
  ASSERT_THAT(samples.at(0).snapshot->processes, SizeIs(1));
  const auto &process = samples[0].snapshot->processes[0];
  EXPECT_EQ(process.pid, 42U);
  EXPECT_EQ((*process.texts)[process_metric("user")].value_or(""), "ann");
  EXPECT_FALSE((*process.texts)[process_metric("job")].has_value()) << "the scraper's, not the process'";
  EXPECT_FALSE((*process.texts)[process_metric("pod")].has_value());
  EXPECT_EQ((*process.texts)[process_metric("user")].value(), "ann");
  EXPECT_DOUBLE_EQ(process.row[process_metric("gpu_memory_bytes")].value(), 4096);
}

TEST(HostSamples, AnotherExportersSumNeedsBothItsParts) {
  const auto of = [](const char *name, const char *uuid, const char *gpu, double value) {
    return now(name, {{"UUID", uuid}, {"gpu", gpu}, {"modelName", "NVIDIA A100"}}, value);
  };
  const std::vector all{of("DCGM_FI_DEV_FB_USED", "GPU-a", "0", 1000), of("DCGM_FI_DEV_FB_FREE", "GPU-a", "0", 3000),
                        of("DCGM_FI_DEV_FB_USED", "GPU-b", "1", 1000), of("DCGM_FI_DEV_POWER_USAGE", "GPU-b", "1", 77)};
  const auto samples = host_samples(all, taken(kNow), kForeign);
  ASSERT_THAT(samples.at(0).snapshot->devices, SizeIs(2));
  const auto &both = samples[0].snapshot->devices[0].row, &one = samples[0].snapshot->devices[1].row;
  constexpr double kMiB = 1 << 20;
  EXPECT_DOUBLE_EQ(by_role(both, Role::memory_total).value(), 4000 * kMiB);
  EXPECT_DOUBLE_EQ(by_role(one, Role::memory_used).value(), 1000 * kMiB);
  EXPECT_FALSE(by_role(one, Role::memory_total));
  EXPECT_DOUBLE_EQ(by_role(one, Role::power).value(), 77);
}

// What an agent shows to a scraper comes back as it was.
TEST(HostSamples, AreWhatTheAgentHad) {
  Snapshot before;
  before.time = at(kNow);
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = "GPU-a";
  identity->vendor = "nvidia";
  identity->name = "a \"quoted\"\nname";
  Device device{.id = {.index = 3}, .identity = identity, .state = DeviceState::ok, .state_for = Seconds(0)};
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (!is_text(metric)) device.row[id] = metric.kind == Kind::set ? 5 : 3;
  });
  before.devices.push_back(device);
  std::string text;
  view::PrometheusView(MetricSet::all()).write(before, text);
  std::vector<EngineSeries> all;
  SeriesLine line;
  for (const auto part : std::views::split(text, '\n')) {
    if (!parse_series(std::string_view(part.begin(), part.end()), line)) continue;
    all.push_back({.labels = line.labels, .points = {{kNow, line.value}}});
  }
  const auto samples = host_samples(all, taken(kNow), kHost);
  ASSERT_THAT(samples.at(0).snapshot->devices, SizeIs(1));
  const auto &after = samples[0].snapshot->devices[0];
  EXPECT_EQ(after.id, device.id);
  EXPECT_EQ(after.identity->name.str(), identity->name.str());
  std::vector<std::string> others;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (is_text(metric)) return;
    const auto &reading = after.row[id];
    if (reading.is(Reason::out_of_range)) return;
    if (!reading || std::abs(reading.value() - device.row[id].value()) > 1e-9) others.emplace_back(metric.key);
  });
  EXPECT_THAT(others, IsEmpty());
}

TEST(HostMoments, AnAnswerOfNonsenseHasNone) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(host_moments(std::vector{series("", {}, {{kNow, nan}, {nan, 5}, {kNow, -1}, {kNow, 1e300}})}), IsEmpty());
  EXPECT_THAT(host_moments({}), IsEmpty());
}

TEST(HostQueries, AnInstanceIsNoQuery) {
  const HostPlace hostile{.instance = "n\"} or up{x=\"\\", .name = "n", .exporter = Exporter::gpulse};
  EXPECT_EQ(time_query(hostile), R"(max(gpulse_sample_timestamp_seconds{instance="n\"} or up{x=\"\\"}))");
}

}  // namespace
}  // namespace gpulse::fleet
