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
  limits,   // omitted if the device reports its temperature limits as margins
  margins,  // omitted if it does not
  rack,     // N/A unless the device is part of a rack
};

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
  Condition condition = Condition::none;
  Fact fact = Fact::none;  // for rows without a metric
  std::optional<MetricId> metric = {};
  std::uint64_t mask = 0;  // the bits of the metric that are shown; 0: all
  Form form = {};
  Form xml_form = {};  // if XML uses another
  List list = List::none;
  SampleKind samples = {};
  Metrics also_needs = {};      // further metrics that are needed to print it
  std::string_view older = {};  // its path below <gpu> in older DTDs

  constexpr const Form &form_in_xml() const { return xml_form.print != nullptr ? xml_form : form; }

  // Modified copies, for building the table.
  constexpr LogRow was(std::string_view path) const {
    auto row = *this;
    row.older = path;
    return row;
  }
  constexpr LogRow when(Condition rule, MetricId decides) const {
    auto row = *this;
    row.condition = rule;
    row.also_needs = {decides};
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

// Decides Condition::rack.
inline constexpr MetricId kRackMetric = detail_metric("platform_fabric_guid");
// Decides Condition::limits and Condition::margins.
inline constexpr MetricId kMarginMetric = device_metric("temperature_margin_shutdown_celsius");

}  // namespace gpulse::smi
