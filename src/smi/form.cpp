// SPDX-License-Identifier: Apache-2.0
#include "smi/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "metric/state_names.hpp"
#include "model/nvml_error.hpp"
#include "model/plausible.hpp"
#include "smi/value.hpp"

namespace gpulse::smi {

namespace {

constexpr double kMibBytes = 1024.0 * 1024.0;

std::optional<std::uint64_t> hex_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_integer<std::uint64_t>(text, 16);
}

}  // namespace

std::string state_name(std::span<const std::string_view> names, double value) {
  const auto place = static_cast<std::size_t>(std::max(0.0, value));
  return place < names.size() ? std::string(names[place]) : fmt::format("{:.0f}", value);
}

// "N/A" among the names is not matched: it is read as "not supported", as everywhere else.
parse::Value state_value(std::span<const std::string_view> names, std::span<const OtherName> others,
                         std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != kNotAvailable && same_word(names[i], text)) return static_cast<double>(i);
  }
  for (const auto &other : others) {
    if (same_word(other.name, text)) return other.value;
  }
  return parse::count(text, {});
}

Reading read(MetricId metric, const Form &form, std::string_view text, std::string_view unit) {
  text = unbracketed(text);
  // The value is tried first, because "Not Supported" is also a state of the fabric.
  if (const auto value = form.parse(text, unit)) return plausible(metric, *value);
  // Blacked out by whoever published the log.
  for (const auto *word : {"redacted", "masked", "hidden", "removed"}) {
    if (same_word(word, text)) return Reason::not_supported;
  }
  return reason_in(text).value_or(Reason::error);
}

[[gnu::hot]] std::string print::integer(double value) { return fixed(value, 0); }
std::string print::lanes(double value) { return fmt::format("{:.0f}x", value); }
parse::Value parse::count(std::string_view text, std::string_view unit) {
  // "0x" is a link width of 0, not a hexadecimal number.
  return text.starts_with("0x") && text != "0x" ? hex(text, unit) : smi::quantity(Unit::none, text, unit);
}

[[gnu::hot]] std::string print::mib_up(double bytes) { return fixed(std::ceil(bytes / kMibBytes), 0); }
std::string print::mib_down(double bytes) { return fixed(std::floor(bytes / kMibBytes), 0); }
std::string print::kilobytes(double bytes) { return fixed(bytes / 1000, 0); }
[[gnu::hot]] std::string print::two_digits(double value) { return fixed(value, 2); }
std::string print::micro(double seconds) { return fixed(seconds * 1e6, 0); }

std::string print::millivolts(double volts) { return fixed(volts * 1e3, 3); }

std::string print::milli(double seconds) { return fixed(seconds * 1e3, 0); }
parse::Value parse::milli(std::string_view text, std::string_view unit) {
  return smi::quantity(Unit::seconds, text, unit.empty() ? "ms" : unit);
}

std::string print::hex(double value) { return fmt::format("0x{:x}", static_cast<std::uint64_t>(value)); }
std::string print::hex8(double value) { return fmt::format("0x{:08X}", static_cast<std::uint64_t>(value)); }
std::string print::hex16(double value) { return fmt::format("0x{:016X}", static_cast<std::uint64_t>(value)); }
std::string print::bare_hex(double value) { return fmt::format("{:X}", static_cast<std::uint64_t>(value)); }
std::string print::bare_hex8(double value) { return fmt::format("{:08X}", static_cast<std::uint64_t>(value)); }
parse::Value parse::hex(std::string_view text, std::string_view) {
  const auto number = hex_number(text);
  return number ? Value(static_cast<double>(*number)) : std::nullopt;
}

// The driver's bits are in the order of our names; bits without a name count as "other".
parse::Value parse::event_reasons(std::string_view text, std::string_view) {
  constexpr std::uint64_t kNamed = 0x1FF;
  const auto bits = hex_number(text);
  if (!bits) return std::nullopt;
  return static_cast<double>((*bits & kNamed) | ((*bits & ~kNamed) != 0 ? state_names::throttle_bit("other") : 0));
}

parse::Value parse::flag(std::string_view text, std::string_view unit) {
  const auto flag = read_flag(text);
  return flag ? Value(*flag ? 1 : 0) : count(text, unit);
}

std::string print::performance(double value) { return fmt::format("P{:.0f}", value); }
parse::Value parse::performance(std::string_view text, std::string_view) {
  return state_value(state_names::kPerformance, {}, text);
}

// Any status but success is printed as an error, and read back as one.
std::string print::fabric_status(double value) {
  constexpr double kMaxCode = 0xFFFF;  // a driver may answer anything
  return std::string(nvml_error(static_cast<std::uint16_t>(std::clamp(value, 0.0, kMaxCode))).smi_words);
}
parse::Value parse::fabric_status(std::string_view text, std::string_view unit) {
  return same_word(text, nvml_error(0).smi_words) ? Value(0) : count(text, unit);
}

// In the order of the bits.
namespace {
constexpr std::array<std::string_view, 9> kAtomicNames{
    "FETCHADD_32", "FETCHADD_64", "SWAP_32", "SWAP_64", "CAS_32", "CAS_64", "CAS_128", "FETCHADD_128", "SWAP_128"};
}  // namespace

std::string print::atomics(double mask) {
  std::string out;
  for (std::size_t i = 0; i < kAtomicNames.size(); ++i) {
    if ((static_cast<std::uint64_t>(mask) >> i & 1U) == 0) continue;
    out += out.empty() ? "" : " ";
    out += kAtomicNames[i];
  }
  return out.empty() ? std::string(kNotAvailable) : out;
}
parse::Value parse::atomics(std::string_view text, std::string_view) {
  std::uint64_t bits = 0;
  for (const auto name : split_words(text)) {
    const auto *const at = std::find(kAtomicNames.begin(), kAtomicNames.end(), name);
    if (at == kAtomicNames.end()) return std::nullopt;
    bits |= std::uint64_t{1} << static_cast<unsigned>(at - kAtomicNames.begin());
  }
  return bits != 0 ? Value(static_cast<double>(bits)) : std::nullopt;
}

std::string print::timestamp(double seconds) {
  return stamp(WallTime(std::chrono::milliseconds(std::llround(seconds * 1e3))));
}
parse::Value parse::timestamp(std::string_view text, std::string_view) {
  const auto time = read_time(text);
  if (!time) return std::nullopt;
  return static_cast<double>(std::chrono::floor<std::chrono::milliseconds>(time->time_since_epoch()).count()) / 1e3;
}

}  // namespace gpulse::smi
