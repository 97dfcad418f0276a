// SPDX-License-Identifier: Apache-2.0
#include "view/status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.hpp"
#include "term/width.hpp"
#include "view/finding_cells.hpp"
#include "view/testing.hpp"

namespace gpulse::view {
namespace {

using ::testing::HasSubstr;
using testing::kGiB;
using testing::make_device;
using testing::make_process;
using testing::make_snapshot;
using ::testing::Not;

void expect_golden(const std::string &name, const std::string &screen) {
  testing::expect_file("src/view/golden/" + name + ".txt", screen);
}

class Status : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  static std::string screen(const Snapshot &snapshot, int width = 80, int height = 24) {
    return render_status(snapshot, {.style = {.width = width}, .height = height});
  }
};

// Devices that differ from each other, so that a mixed-up row shows.
Snapshot varied(std::uint32_t devices) {
  auto snapshot = make_snapshot(devices);
  for (auto &device : snapshot.devices) {
    const double load = device.id.index * 37 % 101;
    device.row[device_metric("gpu_utilization_percent")] = load;
    device.row[device_metric("sm_active_percent")] = load * 0.7;
    device.row[device_metric("memory_used_bytes")] = (device.id.index * 23 % 141) * kGiB;
    device.row[device_metric("power_draw_watts")] = 75 + load * 6;
  }
  return snapshot;
}

Snapshot troubled() {
  auto snapshot = make_snapshot(4);
  snapshot.origin = "DEMO";
  auto &row = snapshot.devices[0].row;
  row[device_metric("throttle_reasons")] = 0x1 | 0x4 | 0x40;  // idle, power cap, hw thermal
  row[device_metric("temperature_gpu_celsius")] = 91;
  row[device_metric("ecc_uncorrected_total")] = 3;
  row[device_metric("power_limit_watts")] = 1000;
  snapshot.devices[1].state = DeviceState::lost;
  snapshot.devices[1].state_for = Seconds(190);
  snapshot.devices[2].state = DeviceState::not_responding;
  snapshot.devices[2].state_for = Seconds(12);
  snapshot.devices[3].state = DeviceState::asleep;
  snapshot.processes[1].gone = true;
  snapshot.processes[2].foreign = true;
  snapshot.processes[3] = make_process(4194304, 3, "/opt/名前のとても長い/実行 --データ 日本語", "very-long-user@corp");
  snapshot.processes[3].types = 7;
  snapshot.host[host_metric("pressure_io_percent")] = 33;
  snapshot.host[host_metric("swap_total_bytes")] = 8 * kGiB;
  snapshot.host[host_metric("swap_used_bytes")] = 2.1 * kGiB;
  snapshot.sources.push_back({"amdgpu", "no permission to read the device", "run as root", 0});
  snapshot.events.push_back(
      {snapshot.time, snapshot.devices[1].identity->uuid, EventKind::xid, 79, "fallen off the bus"});
  return snapshot;
}

Snapshot with_instances() {
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row[device_metric("gpu_utilization_percent")] = Reason::not_supported;
  for (std::uint32_t i = 1; i < 4; ++i) {
    auto device = make_device(i);
    auto identity = std::make_shared<DeviceIdentity>(*device.identity);
    identity->label = "1g.18gb";
    device.identity = identity;
    device.id = {.index = 0, .instance = i - 1};
    device.row.fill(Reason::not_supported);
    device.row[device_metric("sm_active_percent")] = 10.0 * i;
    device.row[device_metric("memory_used_bytes")] = 3.1 * kGiB * i;
    device.row[device_metric("memory_total_bytes")] = 16 * kGiB;
    // Out of order, as a hot-plugged device may be.
    snapshot.devices.insert(snapshot.devices.begin(), device);
  }
  snapshot.processes[0].device = {0, 1};
  return snapshot;
}

TEST_F(Status, LooksAsItShould) {
  for (const std::uint32_t devices : {0U, 1U, 2U, 8U, 16U, 128U}) {
    expect_golden(fmt::format("status_80x24_{}", devices), screen(varied(devices)));
  }
  for (const int width : {40, 100, 120, 160, 200}) {
    expect_golden(fmt::format("status_{}_wide", width), screen(varied(2), width, 0));
  }
  expect_golden("status_troubled", screen(troubled()));
  expect_golden("status_instances", screen(with_instances()));
  expect_golden("status_ascii", render_status(troubled(), {.style = {.unicode = false}}));
  expect_golden("status_colour", render_status(troubled(), {.style = {.colour = true}}));
}

TEST_F(Status, FillsEightyColumnsAndTwentyFourLinesAndNoMore) {
  for (const std::uint32_t devices : {1U, 8U, 16U, 64U, 128U, 1000U}) {
    const auto text = screen(varied(devices));
    int lines = 0;
    for (std::string_view rest = text; !rest.empty(); ++lines) {
      EXPECT_LE(term::width(next_piece(rest, '\n')), 80);
    }
    EXPECT_LE(lines, 24) << devices;
  }
}

TEST_F(Status, ShowsEightDevicesWithAllTheirProcessesAtOnce) {
  const auto text = screen(varied(8));
  EXPECT_THAT(text, HasSubstr("41007"));
  EXPECT_THAT(text, Not(HasSubstr("more")));
}

TEST_F(Status, NeverShowsANumberThatIsNotThere) {
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row.fill(Reason::not_sampled);
  snapshot.processes[0].row.fill(Reason::no_permission);
  snapshot.host.fill(Reason::not_sampled);
  EXPECT_EQ(screen(snapshot, 80, 0),
            "node7  Sun 2026-11-15 02:31:18  nvidia 580.159.04\n"
            "\n"
            "GPU  NAME  UTIL   SM  USED  POWER  TEMP\n"
            "  0  H200     –    –     –      –     –\n"
            "\n"
            "GPU    PID  USER T  GPU MEM  GPU%  CPU%  HOST MEM  TIME  COMMAND\n"
            "  0  41000  ann  C        –     –     –         –     –  python3 train.py --ran…\n"
            "\n"
            "CPU –  load –  mem –  disk r– w–/s  net ↓– ↑–/s\n");
}

TEST_F(Status, LeavesOutWhatTheHostNeverTells) {
  auto snapshot = make_snapshot(1);
  snapshot.host.fill(Reason::not_supported);
  snapshot.host[host_metric("cpu_percent")] = 7;
  EXPECT_THAT(screen(snapshot), HasSubstr("\nCPU 7%\n"));
}

TEST_F(Status, IdleAndChosenClocksAreNoFault) {
  auto snapshot = make_snapshot(1);
  snapshot.devices[0].row[device_metric("throttle_reasons")] = 0x1 | 0x2;
  EXPECT_THAT(screen(snapshot), Not(HasSubstr("idle")));
  EXPECT_THAT(screen(snapshot), Not(HasSubstr("!")));
}

TEST_F(Status, LeavesOutWhatNobodyAskedFor) {
  const auto text = render_status(make_snapshot(1), {.processes = false, .host = false});
  EXPECT_THAT(text, Not(HasSubstr("PID")));
  EXPECT_THAT(text, Not(HasSubstr("load")));
}

TEST_F(Status, KeepsTheNewestThreeEvents) {
  auto snapshot = make_snapshot(1);
  for (int code = 1; code <= 5; ++code) snapshot.events.push_back({snapshot.time, "", EventKind::xid, code, "text"});
  const auto text = screen(snapshot);
  EXPECT_THAT(text, Not(HasSubstr("xid 2")));
  EXPECT_THAT(text, HasSubstr("xid 3"));
  EXPECT_THAT(text, HasSubstr("xid 5"));
}

// A value far beyond any threshold, so that whatever may show it does.
void set_number(Snapshot &snapshot, MetricId id, const Reading &reading) {
  switch (describe(id).scope) {
    case Scope::device:
      snapshot.devices[0].row[id] = reading;
      break;
    case Scope::process:
      snapshot.processes[0].row[id] = reading;
      break;
    case Scope::host:
      snapshot.host[id] = reading;
      break;
    case Scope::self:
      snapshot.self[id] = reading;
      break;
    default:
      break;
  }
}

void set_text(Snapshot &snapshot, MetricId id, const std::string &text) {
  if (describe(id).scope == Scope::process) {
    auto texts = std::make_shared<TextRow>(*snapshot.processes[0].texts);
    (*texts)[id] = text;
    snapshot.processes[0].texts = std::move(texts);
  } else if (describe(id).scope == Scope::device) {
    auto identity = std::make_shared<DeviceIdentity>(*snapshot.devices[0].identity);
    identity->texts[id] = text;
    snapshot.devices[0].identity = std::move(identity);
  }
}

TEST_F(Status, NothingIsShownThatItDoesNotNeed) {
  const auto needs = needs_of_status();
  const auto before = make_snapshot(1);
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const MetricId id{static_cast<std::uint16_t>(i)};
    if (needs.contains(id)) continue;
    auto after = before;
    if (is_text(describe(id))) {
      set_text(after, id, "a text");
    } else {
      set_number(after, id, 1e9);
    }
    for (const int width : {80, 400}) EXPECT_EQ(screen(after, width, 0), screen(before, width, 0)) << describe(id).key;
  }
}

insight::Finding starved() {
  return {.id = insight::FindingId::input_cpu,
          .weight = insight::Weight::problem,
          .devices = {{0}, {2}},
          .text = "The GPU waits 94 % of the time for the CPU: the job uses 200 % of a core, 14 cores are idle"};
}

TEST_F(Status, SaysWhatIsWrongBelowTheTable) {
  auto snapshot = make_snapshot(3);
  snapshot.events = {{snapshot.time, "", EventKind::finding, 1, "input-cpu: The GPU waits"}};
  const std::vector findings{starved(),
                             insight::Finding{.id = insight::FindingId::throttled_power,
                                              .weight = insight::Weight::note,
                                              .devices = {{1}},
                                              .text = "The power limit holds the GPU back"},
                             insight::Finding{.id = insight::FindingId::healthy, .devices = {{1}}, .text = "It works"}};
  const auto text = render_status(snapshot, {.style = {.unicode = true, .width = 80}, .findings = &findings});
  EXPECT_THAT(text, HasSubstr("\n! GPU 0, 2  input-cpu  The GPU waits 94 % of the time for the CPU: the job uses\n"
                              "                       200 % of a core, 14 cores are idle\n"
                              "· GPU 1  throttled-power  The power limit holds the GPU back\n"
                              "  gpulse diagnose says more\n"));
  EXPECT_THAT(text, Not(HasSubstr("It works")));
  EXPECT_THAT(text, Not(HasSubstr("02:31:18 finding"))) << "it has a line already";
}

TEST_F(Status, ColoursAFindingByHowMuchItDeservesToBeSeen) {
  EXPECT_EQ(finding_colour(starved()), term::Colour::bad);
  EXPECT_EQ(finding_colour({.id = insight::FindingId::memory_headroom, .weight = insight::Weight::note}),
            term::Colour::warn);
  EXPECT_EQ(finding_colour({.id = insight::FindingId::throttled_power, .weight = insight::Weight::note}),
            term::Colour::dim)
      << "usual for a GPU at work";
}

TEST_F(Status, TakesALineForEachFindingWhereLinesAreFew) {
  const std::vector findings(9, starved());
  const auto text = render_status(make_snapshot(1), {.style = {.width = 60}, .height = 24, .findings = &findings});
  EXPECT_THAT(text, HasSubstr("\n! GPU 0, 2  input-cpu  The GPU waits 94 % of the time for"));
  EXPECT_THAT(text, Not(HasSubstr("cores are idle")));
  EXPECT_THAT(text, HasSubstr("  and 3 more; gpulse diagnose says more\n"));
}

TEST_F(Status, IsSilentWhereAllIsWell) {
  const std::vector findings{insight::Finding{.id = insight::FindingId::healthy, .devices = {{0}}, .text = "It works"}};
  const auto snapshot = make_snapshot(1);
  EXPECT_EQ(render_status(snapshot, {.style = {.width = 80}, .findings = &findings}),
            render_status(snapshot, {.style = {.width = 80}}));
}

}  // namespace
}  // namespace gpulse::view
