// SPDX-License-Identifier: Apache-2.0
// How nvidia-smi prints a value, and how that text is parsed again. form.cpp has print and parse side by side.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/row.hpp"

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
std::string milli(double seconds);
std::string lanes(double value);
std::string hex(double value);
std::string hex8(double value);
std::string hex16(double value);
std::string bare_hex(double value);
std::string bare_hex8(double value);
std::string enabled(double value);
std::string enabled_low(double value);
std::string yes_no(double value);
std::string on_off(double value);
std::string active(double value);
std::string validity(double value);
std::string performance(double value);
std::string compute_mode(double value);
std::string addressing(double value);
std::string recovery(double value);
std::string operation_mode(double value);
std::string virtualization(double value);
std::string peer_type(double value);
std::string fabric_state(double value);
std::string fabric_status(double value);
std::string fabric_fault(double value);
std::string health_summary(double value);
std::string atomics(double mask);
std::string timestamp(double seconds);
}  // namespace print

namespace parse {
using Value = std::optional<double>;
Value count(std::string_view text, std::string_view unit);
Value percent(std::string_view text, std::string_view unit);
Value bytes(std::string_view text, std::string_view unit);
Value bytes_per_second(std::string_view text, std::string_view unit);
Value watts(std::string_view text, std::string_view unit);
Value celsius(std::string_view text, std::string_view unit);
Value mhz(std::string_view text, std::string_view unit);
Value micro(std::string_view text, std::string_view unit);
Value milli(std::string_view text, std::string_view unit);
Value volts(std::string_view text, std::string_view unit);
Value hex(std::string_view text, std::string_view unit);
Value event_reasons(std::string_view text, std::string_view unit);
Value flag(std::string_view text, std::string_view unit);
Value validity(std::string_view text, std::string_view unit);
Value performance(std::string_view text, std::string_view unit);
Value compute_mode(std::string_view text, std::string_view unit);
Value addressing(std::string_view text, std::string_view unit);
Value recovery(std::string_view text, std::string_view unit);
Value operation_mode(std::string_view text, std::string_view unit);
Value virtualization(std::string_view text, std::string_view unit);
Value peer_type(std::string_view text, std::string_view unit);
Value fabric_state(std::string_view text, std::string_view unit);
Value fabric_status(std::string_view text, std::string_view unit);
Value fabric_fault(std::string_view text, std::string_view unit);
Value health_summary(std::string_view text, std::string_view unit);
Value atomics(std::string_view text, std::string_view unit);
Value timestamp(std::string_view text, std::string_view unit);
}  // namespace parse

inline constexpr Form kCount{"", print::integer, parse::count};
inline constexpr Form kBanks{"bank(s)", print::integer, parse::count};
inline constexpr Form kLanes{"", print::lanes, parse::count};
inline constexpr Form kPercent{"%", print::integer, parse::percent};
inline constexpr Form kMib{"MiB", print::mib_up, parse::bytes};
inline constexpr Form kMibDown{"MiB", print::mib_down, parse::bytes};
inline constexpr Form kKilobytes{"KB/s", print::kilobytes, parse::bytes_per_second};
inline constexpr Form kWatts{"W", print::two_digits, parse::watts};
inline constexpr Form kCelsius{"C", print::integer, parse::celsius};
inline constexpr Form kMhz{"MHz", print::integer, parse::mhz};
inline constexpr Form kMicro{"us", print::micro, parse::micro};
inline constexpr Form kPlainMicro{"", print::micro, parse::micro};
inline constexpr Form kMilli{"ms", print::milli, parse::milli};
inline constexpr Form kHex{"", print::hex, parse::hex};
inline constexpr Form kHex8{"", print::hex8, parse::hex};
inline constexpr Form kHex16{"", print::hex16, parse::hex};
inline constexpr Form kBareHex{"", print::bare_hex, parse::hex};
inline constexpr Form kBareHex8{"", print::bare_hex8, parse::hex};
inline constexpr Form kEventReasons{"", print::hex16, parse::event_reasons};
inline constexpr Form kEnabled{"", print::enabled, parse::flag};
inline constexpr Form kEnabledLow{"", print::enabled_low, parse::flag};
inline constexpr Form kYesNo{"", print::yes_no, parse::flag};
inline constexpr Form kOnOff{"", print::on_off, parse::flag};
inline constexpr Form kActive{"", print::active, parse::flag};
inline constexpr Form kValidity{"", print::validity, parse::validity};
inline constexpr Form kPerformanceState{"", print::performance, parse::performance};
inline constexpr Form kComputeMode{"", print::compute_mode, parse::compute_mode};
inline constexpr Form kAddressing{"", print::addressing, parse::addressing};
inline constexpr Form kRecovery{"", print::recovery, parse::recovery};
inline constexpr Form kOperationMode{"", print::operation_mode, parse::operation_mode};
inline constexpr Form kVirtualization{"", print::virtualization, parse::virtualization};
inline constexpr Form kPeerType{"", print::peer_type, parse::peer_type};
inline constexpr Form kFabricState{"", print::fabric_state, parse::fabric_state};
inline constexpr Form kFabricStatus{"", print::fabric_status, parse::fabric_status};
inline constexpr Form kFabricFault{"", print::fabric_fault, parse::fabric_fault};
inline constexpr Form kHealthSummary{"", print::health_summary, parse::health_summary};
inline constexpr Form kAtomics{"", print::atomics, parse::atomics};
inline constexpr Form kTimestamp{"", print::timestamp, parse::timestamp};

}  // namespace gpulse::smi
