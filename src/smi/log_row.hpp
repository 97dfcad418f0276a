// SPDX-License-Identifier: Apache-2.0
// A row of the log describes a line of `nvidia-smi -q`, the matching element of `nvidia-smi -q -x`, and how that
// element is read back. The rows are in log_rows.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/device_details.hpp"
#include "smi/fact.hpp"
#include "smi/form.hpp"

namespace gpulse::smi {

// What -d can select, as bits.
namespace section {
inline constexpr std::uint32_t kMemory = 1U << 0, kUtilization = 1U << 1, kEcc = 1U << 2, kTemperature = 1U << 3,
                               kPower = 1U << 4, kClock = 1U << 5, kCompute = 1U << 6, kPids = 1U << 7,
                               kPerformance = 1U << 8, kSupportedClocks = 1U << 9, kPageRetirement = 1U << 10,
                               kAccounting = 1U << 11, kEncoderStats = 1U << 12, kTargetTemperature = 1U << 13,
                               kVoltage = 1U << 14, kFbcStats = 1U << 15, kRowRemapper = 1U << 16,
                               kGspVersion = 1U << 17, kPowerSmoothing = 1U << 18, kPowerProfiles = 1U << 19;
}  // namespace section

enum class RowKind : std::uint8_t {
  value,   // a label and a value
  group,   // a label with rows below it
  folded,  // a group that collapses to "N/A" if none of its rows has a value
  list,    // a line or more per entry, with its own writer and reader
};

enum class List : std::uint8_t {
  none,
  instances,
  samples,
  clocks,
  processes,
  accounted,
  single_bit_pages,
  double_bit_pages
};

enum class Condition : std::uint8_t {
  none,
  limits,         // omitted if the device reports its temperature limits as margins
  margins,        // omitted if it does not
  rack,           // N/A unless the device is part of a rack
  ecc_bits,       // omitted unless ECC errors are counted by the bits they hit: up to Volta
  ecc_places,     // omitted unless they are counted by where they are: from Turing on
  ecc_sram,       // the same, without how they were found: Turing, and later ones up to v11
  ecc_parity,     // the same, with how they were found
  average_power,  // takes the only power that is known, if that is a mean
  instant_power,  // … if it is not
};

// The versions of nvidia-smi's DTD that are written; older and newer ones are read as far as they are alike.
inline constexpr int kOldestSchema = 8, kNewestSchema = 13;

// The version that a driver's nvidia-smi writes: 12 for "535.54.03". The newest if the driver is not known.
int schema_of_driver(std::string_view version);

struct LogRow {
  using Metrics = std::array<std::optional<MetricId>, 3>;

  std::uint8_t depth = 1;
  RowKind kind = RowKind::value;
  std::string_view label = {};  // empty: not in the text
  std::string_view tag = {};    // empty: not in the XML
  std::uint32_t sections = 0;   // shown for these -d options; 0: only in the full log
  bool on_request = false;      // in the text only if -d asks for it
  bool read_last = false;       // read only if no other element has the metric
  bool bare_in_xml = false;     // without the 0x
  bool as_logged = false;       // written only if the log had it
  std::uint8_t first_schema = kOldestSchema, last_schema = kNewestSchema;
  Condition condition = Condition::none;
  Fact fact = Fact::none;  // for rows without a metric
  // For rows without a metric: the name in DeviceDetails::told, which is that of --query-gpu if it has one. `fact` is
  // printed if the log does not tell.
  std::string_view told = {};
  std::optional<MetricId> metric = {};
  std::uint64_t mask = 0;  // the bits of the metric that are shown; 0: all
  Form form = {};
  Form xml_form = {};  // if XML uses another
  Form old_form = {};  // of v8, if that is another
  List list = List::none;
  std::string_view entry = {};  // a text of several words with commas: the XML element of each
  SampleKind samples = {};
  Metrics also_needs = {};  // further metrics that are needed to print it

  constexpr const Form &form_in_xml(int schema = kNewestSchema) const {
    if (old_form.print != nullptr && schema < 9) return old_form;
    return xml_form.print != nullptr ? xml_form : form;
  }
  constexpr bool is_in(int schema) const { return !as_logged && first_schema <= schema && schema <= last_schema; }

  // Modified copies, for building the table.
  constexpr LogRow since(std::uint8_t schema) const {
    auto row = *this;
    row.first_schema = schema;
    return row;
  }
  constexpr LogRow until(std::uint8_t schema) const {
    auto row = *this;
    row.last_schema = schema;
    return row;
  }
  constexpr LogRow of_entries(std::string_view element) const {
    auto row = *this;
    row.entry = element;
    return row;
  }
  constexpr LogRow if_logged() const {
    auto row = *this;
    row.as_logged = true;
    return row;
  }
  constexpr LogRow formerly(const Form &v8) const {
    auto row = *this;
    row.old_form = v8;
    return row;
  }
  constexpr LogRow when(Condition rule, const Metrics &decide) const {
    auto row = *this;
    row.condition = rule;
    row.also_needs = decide;
    return row;
  }
  constexpr LogRow only_on_request() const {
    auto row = *this;
    row.on_request = true;
    return row;
  }
  constexpr LogRow only_if_nothing_better() const {
    auto row = *this;
    row.read_last = true;
    return row;
  }
};

// An element that is read but never written.
struct ReadOnlyElement {
  MetricId metric;
  Form form;
  std::array<std::string_view, 4> paths;  // the first one with a value wins
};

// A value of an accounted process.
struct AccountedRow {
  std::string_view label;
  const char *tag;
  Reading AccountedProcess::*value;
  Form form;
};
std::span<const AccountedRow> accounted_rows();

// For a device and for a MIG instance.
std::span<const LogRow> log_rows();
std::span<const LogRow> instance_rows();
std::span<const ReadOnlyElement> read_only_elements();
std::span<const ReadOnlyElement> read_only_instance_elements();

// The bit in throttle_reasons for a name such as "sw_power_cap"; 0 if there is no such reason.
std::uint64_t event_reason_bit(std::string_view name);

// The name in DeviceDetails::told of what the log says about the driver, not about a device.
inline constexpr std::string_view kVgpuDriverCapability = "vgpu_driver_capability.heterogenous_multivGPU";
inline constexpr std::array<std::string_view, 2> kNewerVersions{"kmd_version", "cuda_umd_version"};

// Decides Condition::rack.
inline constexpr MetricId kRackMetric = detail_metric("platform_fabric_guid");
// Decides Condition::limits and Condition::margins.
inline constexpr MetricId kMarginMetric = device_metric("temperature_margin_shutdown_celsius");
// Decides Condition::ecc_… and, with the readings of power, Condition::…_power.
inline constexpr MetricId kArchitectureMetric = device_metric("architecture");

}  // namespace gpulse::smi
