// SPDX-License-Identifier: Apache-2.0
// What `gpulse smi` writes, its reader of nvidia-smi's logs reads back.
#include <gtest/gtest.h>

#include "model/nvml_error.hpp"
#include "smi/log_row.hpp"
#include "smi/read_log.hpp"
#include "smi/testing_values.hpp"
#include "view/smi/log.hpp"
#include "view/smi/query.hpp"
#include "view/testing.hpp"

namespace gpulse::view::smi {
namespace {

using gpulse::smi::plausible_value;
using gpulse::smi::printed_value;

constexpr auto kReasons = device_metric("throttle_reasons"), kHealth = detail_metric("fabric_health");

// A device with nothing known but its name, ready to be filled.
struct Made {
  Device device = view::testing::make_device(0);
  std::shared_ptr<DeviceIdentity> identity = std::make_shared<DeviceIdentity>(*device.identity);
  std::shared_ptr<DeviceDetails> details = std::make_shared<DeviceDetails>();

  Made() { device.row.fill(Reason::not_supported); }
  Device finish() {
    device.identity = identity;
    device.details = details;
    return device;
  }
  Reading &number(MetricId id) { return (describe(id).scope == Scope::device ? device.row : details->row)[id]; }
  TextReading &text(MetricId id) {
    return (describe(id).scope == Scope::device ? identity->texts : details->texts)[id];
  }
};

void fill(Made &made, MetricId id, const Form &form, std::mt19937 &random) {
  if (is_text(describe(id))) {
    made.text(id) = fmt::format("{} <&> {}", describe(id).label, random() % 100);
  } else if (const auto value = printed_value(id, form, plausible_value(id, random))) {
    made.number(id) = *value;
  }
}

Device filled(std::span<const LogRow> rows, std::mt19937 &random) {
  Made made;
  for (const auto &row : rows) {
    if (row.kind == RowKind::value && row.metric && row.mask == 0 && !row.tag.empty()) {
      fill(made, *row.metric, row.form_in_xml(), random);
    }
  }
  made.number(kReasons) = static_cast<double>(random() % 512);
  std::uint64_t faults = 0;
  for (unsigned place = 0; place < 6; ++place) faults |= std::uint64_t{1 + random() % 2} << 2 * place;
  made.number(kHealth) = static_cast<double>(faults);
  return made.finish();
}

Snapshot machine(Device device) {
  Snapshot snapshot;
  snapshot.time = WallTime(std::chrono::seconds(1794709878));
  snapshot.devices.push_back(std::move(device));
  return snapshot;
}

Snapshot read_back(const std::string &text) {
  const auto log = gpulse::smi::read_log(text, "log");
  EXPECT_TRUE(log) << log.error().line();
  return log ? *log->front() : Snapshot{};
}

void expect_same(const Device &read, const Device &written, MetricId id, std::string_view where) {
  if (is_text(describe(id))) {
    EXPECT_EQ(text_reading(read, id), text_reading(written, id)) << where << ": " << describe(id).key;
  } else {
    EXPECT_EQ(reading(read, id), reading(written, id)) << where << ": " << describe(id).key;
  }
}

TEST(SmiRoundTrip, EveryRowOfTheLogComesBackFromXml) {
  std::mt19937 random(1);  // the same every time
  for (int turn = 0; turn < 20; ++turn) {
    auto device = filled(log_rows(), random);
    const bool margins = turn % 2 == 0;
    if (!margins) device.row[kMarginMetric] = Reason::not_supported;
    const auto snapshot = machine(device);
    const auto back = read_back(log_xml(*select_devices(snapshot, "")));
    ASSERT_EQ(back.devices.size(), 1U);
    EXPECT_EQ(back.devices[0].identity->name, device.identity->name);
    EXPECT_EQ(back.devices[0].identity->uuid, device.identity->uuid);
    EXPECT_EQ(back.devices[0].identity->pci, device.identity->pci);
    for (const auto &row : log_rows()) {
      if (row.kind != RowKind::value || !row.metric || row.tag.empty()) continue;
      if (!row.is_in(gpulse::smi::kNewestSchema)) continue;
      if (row.condition == (margins ? Condition::limits : Condition::margins)) continue;
      // Of devices before Ampere.
      if (row.condition == Condition::ecc_bits || row.condition == Condition::ecc_sram) continue;
      expect_same(back.devices[0], device, *row.metric, row.tag);
    }
  }
}

TEST(SmiRoundTrip, InstancesComeBackFromXml) {
  std::mt19937 random(2);
  auto snapshot = machine(view::testing::make_device(0));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    auto instance = filled(instance_rows(), random);
    instance.id = {.index = 0, .instance = i - 1};
    auto identity = std::make_shared<DeviceIdentity>(*instance.identity);
    identity->parent = snapshot.devices[0].identity->uuid;
    instance.identity = identity;
    snapshot.devices.push_back(instance);
  }
  const auto back = read_back(log_xml(*select_devices(snapshot, "")));
  ASSERT_EQ(back.devices.size(), 4U);
  for (std::size_t i = 1; i <= 3; ++i) {
    for (const auto &row : instance_rows()) {
      if (row.metric) expect_same(back.devices[i], snapshot.devices[i], *row.metric, row.tag);
    }
  }
}

TEST(SmiRoundTrip, ListsComeBackFromXml) {
  Made made;
  auto &details = *made.details;
  details.clocks = {{3201, {1980, 1965, 345}}, {2619, {1980}}};
  details.row[detail_metric("supported_clock_count")] = 4;
  details.retired_pages = {{0x10, 1500000000, false}, {0x44e99d, 0, true}};
  details.row[detail_metric("retired_page_count")] = 2;
  made.number(device_metric("retired_pages_single_bit_total")) = 1;
  made.number(device_metric("retired_pages_double_bit_total")) = 1;
  details.accounted = {{.pid = 7,
                        .gpu_percent = 66,
                        .memory_percent = Reason::not_supported,
                        .memory_max_bytes = 10.0 * 1048576,
                        .running_seconds = 1.5,
                        .running = true}};
  details.row[detail_metric("accounted_process_count")] = 1;
  auto snapshot = machine(made.finish());
  snapshot.processes.push_back(view::testing::make_process(41, 0, "python3"));
  snapshot.processes[0].row[process_metric("gpu_memory_bytes")] = 12.0 * 1048576;
  const auto back = read_back(log_xml(*select_devices(snapshot, "")));
  const auto &read = *back.devices.at(0).details;
  ASSERT_EQ(read.clocks.size(), 2U);
  EXPECT_EQ(read.clocks[0].graphics_mhz, details.clocks[0].graphics_mhz);
  EXPECT_EQ(read.clocks[1].memory_mhz, 2619);
  ASSERT_EQ(read.retired_pages.size(), 2U);
  EXPECT_EQ(read.retired_pages[0].time, 1500000000);
  EXPECT_EQ(read.retired_pages[1].address, 0x44e99dU);
  EXPECT_TRUE(read.retired_pages[1].double_bit);
  ASSERT_EQ(read.accounted.size(), 1U);
  for (const auto &row : accounted_rows()) {
    EXPECT_EQ(read.accounted[0].*row.value, details.accounted[0].*row.value) << row.tag;
  }
  EXPECT_TRUE(read.accounted[0].running);
  ASSERT_EQ(back.processes.size(), 1U);
  EXPECT_EQ(back.processes[0].pid, 41U);
  EXPECT_EQ(back.processes[0].row[process_metric("gpu_memory_bytes")], Reading(12.0 * 1048576));
}

TEST(SmiRoundTrip, EveryFieldOfQueryGpuComesBackFromCsv) {
  std::mt19937 random(3);
  const auto all = fields_of(QueryKind::gpu);
  std::vector<const QueryField *> fields;
  for (const auto &field : all) fields.push_back(&field);
  for (int turn = 0; turn < 20; ++turn) {
    Made made;
    for (const auto &field : all) {
      if (field.metric && field.mask == 0) fill(made, *field.metric, field.form, random);
    }
    made.number(kHealth) = 0x555;
    const auto snapshot = machine(made.finish());
    const QueryStyle style{.header = true, .units = turn % 2 == 0};
    const auto back =
        read_back(query_header(fields) + query_rows(QueryKind::gpu, fields, *select_devices(snapshot, ""), style));
    ASSERT_EQ(back.devices.size(), 1U);
    for (const auto &field : all) {
      if (field.metric) expect_same(back.devices[0], snapshot.devices[0], *field.metric, field.name);
    }
  }
}

TEST(SmiRoundTrip, EveryReasonThatHasWordsComesBack) {
  std::vector<Reading> reasons{Reason::not_supported, Reason::no_permission, Reason::lost, Reason::reset_required,
                               Reason::deprecated};
  for (std::uint16_t code = 1; code <= 30; ++code) {
    const auto read = gpulse::smi::reason_in(nvml_error(code).smi_words);
    ASSERT_TRUE(read);
    reasons.push_back(*read);
  }
  EXPECT_GE(reasons.size(), 30U);
  for (const auto &reason : reasons) {
    Made made;
    made.number(device_metric("fan_speed_percent")) = reason;
    const auto snapshot = machine(made.finish());
    const auto back = read_back(log_xml(*select_devices(snapshot, "")));
    EXPECT_EQ(back.devices.at(0).row[device_metric("fan_speed_percent")], reason);
  }
}

}  // namespace
}  // namespace gpulse::view::smi
