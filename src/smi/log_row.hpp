// SPDX-License-Identifier: Apache-2.0
// A line of `nvidia-smi -q` and an element of `nvidia-smi -q -x` are two renderings of one row. The same row says how
// the element is read back. log_rows.hpp has the rows.
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

// The parts that -d can pick; bits.
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
  folded,  // a group that is one "N/A" where none of its rows has a value
  list,    // as many lines as there are entries; a writer and a reader of its own
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
  limits,   // left out where the device tells its temperature limits as margins
  margins,  // left out where it does not
  rack,     // N/A where the device has no place in a rack
};

struct LogRow {
  using More = std::array<std::optional<MetricId>, 3>;

  std::uint8_t depth = 1;
  RowKind kind = RowKind::value;
  std::string_view label = {};  // empty: not in the text
  std::string_view tag = {};    // empty: not in the XML
  std::uint32_t sections = 0;   // which -d shows it; 0: only the whole log does
  bool on_request = false;      // in the text only where -d asks for it
  bool read_last = false;       // another element tells the metric better
  bool bare_in_xml = false;     // without its 0x
  Condition condition = Condition::none;
  Fact fact = Fact::none;               // what it shows where that is no metric
  std::optional<MetricId> metric = {};  // what it shows
  std::uint64_t mask = 0;               // the bits of the metric that it shows; 0: all
  Form form = {};
  Form xml_form = {};  // where XML has another
  List list = List::none;
  SampleKind samples = {};
  More more = {};               // metrics that it needs beside `metric`
  std::string_view older = {};  // where older DTDs have it: a path below <gpu>

  constexpr const Form &form_in_xml() const { return xml_form.print != nullptr ? xml_form : form; }

  // Changes to a row, for the table.
  constexpr LogRow was(std::string_view path) const {
    auto row = *this;
    row.older = path;
    return row;
  }
  constexpr LogRow when(Condition condition_, MetricId decides) const {
    auto row = *this;
    row.condition = condition_;
    row.more = {decides};
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

// An element that is read but not written.
struct ReadOnlyElement {
  MetricId metric;
  Form form;
  std::array<std::string_view, 4> paths;  // the first one with a value counts
};

// What the log says of a process that the driver has accounts of.
struct AccountedRow {
  std::string_view label, tag;
  Reading AccountedProcess::*value;
  Form form;
};
std::span<const AccountedRow> accounted_rows();

// Of a device, and of a MIG instance.
std::span<const LogRow> log_rows();
std::span<const LogRow> instance_rows();
std::span<const ReadOnlyElement> read_only_elements();
std::span<const ReadOnlyElement> read_only_instance_elements();

// The bit in throttle_reasons of "sw_power_cap" and the like; 0: no such reason.
std::uint64_t event_reason_bit(std::string_view name);

// The metric that decides about Condition::rack.
inline constexpr MetricId kRackMetric = detail_metric("platform_fabric_guid");
// The metric that decides about Condition::limits and Condition::margins.
inline constexpr MetricId kMarginMetric = device_metric("temperature_margin_shutdown_celsius");

}  // namespace gpulse::smi
