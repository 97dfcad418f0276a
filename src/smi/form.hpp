// SPDX-License-Identifier: Apache-2.0
// How nvidia-smi prints a value, and how that text is parsed again: a form has both.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/row.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

struct Form {
  std::string_view unit = {};  // printed after the value, and in CSV titles
  std::string (*print)(double) = nullptr;
  // Empty if the text is not a value of this form. A number without a unit is taken to be in `unit`; if that is empty
  // too, in the unit that nvidia-smi omits.
  std::optional<double> (*parse)(std::string_view text, std::string_view unit) = nullptr;
};

// The metric's value in the text of an element or a CSV cell, or the reason why there is none.
Reading read(MetricId metric, const Form &form, std::string_view text, std::string_view unit = {});

namespace print {
std::string integer(double value);
std::string two_digits(double value);
std::string mib_up(double bytes);
std::string mib_down(double bytes);
std::string kilobytes(double bytes);
std::string micro(double seconds);
std::string millivolts(double volts);
std::string milli(double seconds);
std::string lanes(double value);
std::string hex(double value);
std::string hex8(double value);
std::string hex16(double value);
std::string bare_hex(double value);
std::string bare_hex8(double value);
std::string performance(double value);
std::string fabric_status(double value);
std::string atomics(double mask);
std::string timestamp(double seconds);
}  // namespace print

namespace parse {
using Value = std::optional<double>;
Value count(std::string_view text, std::string_view unit);
Value milli(std::string_view text, std::string_view unit);
Value hex(std::string_view text, std::string_view unit);
Value event_reasons(std::string_view text, std::string_view unit);
Value flag(std::string_view text, std::string_view unit);
Value performance(std::string_view text, std::string_view unit);
Value fabric_status(std::string_view text, std::string_view unit);
Value atomics(std::string_view text, std::string_view unit);
Value timestamp(std::string_view text, std::string_view unit);
template <Unit Kind>
Value quantity(std::string_view text, std::string_view unit) {
  return smi::quantity(Kind, text, unit);
}
}  // namespace parse

// Numbers
inline constexpr Form kCount{"", print::integer, parse::count};
inline constexpr Form kBanks{"bank(s)", print::integer, parse::count};
inline constexpr Form kLanes{"", print::lanes, parse::count};
inline constexpr Form kPercent{"%", print::integer, parse::quantity<Unit::percent>};
inline constexpr Form kMib{"MiB", print::mib_up, parse::quantity<Unit::bytes>};
inline constexpr Form kMibDown{"MiB", print::mib_down, parse::quantity<Unit::bytes>};
inline constexpr Form kKilobytes{"KB/s", print::kilobytes, parse::quantity<Unit::bytes_per_second>};
inline constexpr Form kWatts{"W", print::two_digits, parse::quantity<Unit::watts>};
inline constexpr Form kMillivolts{"mV", print::millivolts, parse::quantity<Unit::volts>};
inline constexpr Form kCelsius{"C", print::integer, parse::quantity<Unit::celsius>};
inline constexpr Form kMhz{"MHz", print::integer, parse::quantity<Unit::mhz>};
inline constexpr Form kMicro{"us", print::micro, parse::quantity<Unit::seconds>};
inline constexpr Form kPlainMicro{"", print::micro, parse::quantity<Unit::seconds>};
inline constexpr Form kMilli{"ms", print::milli, parse::milli};
inline constexpr Form kTimestamp{"", print::timestamp, parse::timestamp};

// Bits
inline constexpr Form kHex{"", print::hex, parse::hex};
inline constexpr Form kHex8{"", print::hex8, parse::hex};
inline constexpr Form kHex16{"", print::hex16, parse::hex};
inline constexpr Form kBareHex{"", print::bare_hex, parse::hex};
inline constexpr Form kBareHex8{"", print::bare_hex8, parse::hex};
inline constexpr Form kEventReasons{"", print::hex16, parse::event_reasons};
inline constexpr Form kAtomics{"", print::atomics, parse::atomics};

// States by name: that of each value from 0 on. A value without a name is printed as a number.
template <std::size_t N>
using Names = std::array<std::string_view, N>;
// A name that another version of nvidia-smi has for a value.
struct OtherName {
  std::string_view name;
  double value;
};
std::string state_name(std::span<const std::string_view> names, double value);
parse::Value state_value(std::span<const std::string_view> names, std::span<const OtherName> others,
                         std::string_view text);

inline constexpr std::array<OtherName, 0> kNoOthers{};
template <const auto &States>
std::string print_state(double value) {
  return state_name(States, value);
}
template <const auto &States, const auto &Others = kNoOthers>
parse::Value parse_state(std::string_view text, std::string_view) {
  return state_value(States, Others, text);
}
template <const auto &NoYes>
std::string print_flag(double value) {
  return std::string(NoYes[value != 0 ? 1 : 0]);
}

namespace names {
inline constexpr Names<2> kEnabled{"Disabled", "Enabled"}, kEnabledLow{"disabled", "enabled"}, kYesNo{"No", "Yes"},
    kOnOff{"Off", "On"}, kSupported{"N/A", "Supported"}, kActive{"Not Active", "Active"}, kValidity{"invalid", "valid"},
    kPeerType{"Direct Connected", "Switch Connected"};
inline constexpr Names<4> kComputeMode{"Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process"};
inline constexpr Names<3> kAddressing{"None", "HMM", "ATS"};
inline constexpr Names<5> kRecovery{"None", "Reset", "Reboot", "Drain P2P", "Drain and Reset"};
inline constexpr std::array kOtherRecovery{OtherName{"GPU Reset", 1}, OtherName{"Node Reboot", 2},
                                           OtherName{"Recover IMEX Domain", 5}};
inline constexpr Names<3> kOperationMode{"All On", "Compute", "Low Double Precision"};
inline constexpr Names<5> kVirtualization{"None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"};
inline constexpr Names<4> kFabricState{kNotAvailable, "Not Started", "In Progress", "Completed"};
inline constexpr std::array kOtherFabricState{OtherName{"Not Supported", 0}};
inline constexpr Names<4> kFabricFault{kNotAvailable, "True", "False", "False"};
inline constexpr Names<4> kHealthSummary{kNotAvailable, "Healthy", "Unhealthy", "Limited Capacity"};
}  // namespace names

inline constexpr Form kEnabled{"", print_flag<names::kEnabled>, parse::flag};
inline constexpr Form kEnabledLow{"", print_flag<names::kEnabledLow>, parse::flag};
inline constexpr Form kYesNo{"", print_flag<names::kYesNo>, parse::flag};
inline constexpr Form kOnOff{"", print_flag<names::kOnOff>, parse::flag};
inline constexpr Form kSupported{"", print_flag<names::kSupported>, parse::flag};
inline constexpr Form kActive{"", print_flag<names::kActive>, parse::flag};
inline constexpr Form kValidity{"", print_flag<names::kValidity>, parse_state<names::kValidity>};
inline constexpr Form kPeerType{"", print_flag<names::kPeerType>, parse_state<names::kPeerType>};
inline constexpr Form kComputeMode{"", print_state<names::kComputeMode>, parse_state<names::kComputeMode>};
inline constexpr Form kAddressing{"", print_state<names::kAddressing>, parse_state<names::kAddressing>};
inline constexpr Form kRecovery{"", print_state<names::kRecovery>,
                                parse_state<names::kRecovery, names::kOtherRecovery>};
inline constexpr Form kOperationMode{"", print_state<names::kOperationMode>, parse_state<names::kOperationMode>};
inline constexpr Form kVirtualization{"", print_state<names::kVirtualization>, parse_state<names::kVirtualization>};
inline constexpr Form kFabricState{"", print_state<names::kFabricState>,
                                   parse_state<names::kFabricState, names::kOtherFabricState>};
inline constexpr Form kFabricStatus{"", print::fabric_status, parse::fabric_status};
inline constexpr Form kFabricFault{"", print_state<names::kFabricFault>, parse_state<names::kFabricFault>};
inline constexpr Form kHealthSummary{"", print_state<names::kHealthSummary>, parse_state<names::kHealthSummary>};
inline constexpr Form kPerformanceState{"", print::performance, parse::performance};

}  // namespace gpulse::smi
