// SPDX-License-Identifier: Apache-2.0
#include "smi/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "base/text.hpp"
#include "model/nvml_error.hpp"

namespace gpulse::smi {

namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestWord = 80;  // longer than anything nvidia-smi prints instead of a value

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Printed instead of a value, in addition to NVML's errors.
struct ReasonWords {
  std::string_view words;
  Reason reason;
  std::uint16_t code = 0;
};
constexpr std::array kReasons{
    ReasonWords{"", Reason::not_supported},
    ReasonWords{"n/a", Reason::not_supported},
    ReasonWords{"not available", Reason::not_supported},
    ReasonWords{"not available in wddm driver model", Reason::not_supported, kNotInWddm},
    ReasonWords{"no permission", Reason::no_permission},
    ReasonWords{"lost", Reason::lost},
    ReasonWords{"reset required", Reason::reset_required},
    ReasonWords{"err!", Reason::error},
    ReasonWords{"error", Reason::error},
};

// The code is kept where another text than the usual one stands for the reason.
Reading reason_of(const NvmlError &error) {
  switch (error.code) {
    case nvml_code::kNotSupported:
    case nvml_code::kNotFound:
    case nvml_code::kFunctionNotFound:
      return {Reason::not_supported, error.code};
    case nvml_code::kDeprecated:
      return Reason::deprecated;
    case nvml_code::kNoPermission:
      return Reason::no_permission;
    case nvml_code::kLost:
      return Reason::lost;
    case nvml_code::kResetRequired:
      return Reason::reset_required;
    case nvml_code::kNoData:
      return {Reason::not_sampled, error.code};
    default:
      return {Reason::error, error.code};
  }
}

struct UnitWord {
  std::string_view word;
  Unit unit;
  double times = 1;
  double over = 1;  // dividing by 1e6 is exact, multiplying by 1e-6 is not
};
// The first one of each kind is the unit that nvidia-smi omits, with `nounits` or always.
constexpr std::array kUnits{
    UnitWord{"%", Unit::percent},
    UnitWord{"MiB", Unit::bytes, 1048576},
    UnitWord{"KiB", Unit::bytes, 1024},
    UnitWord{"GiB", Unit::bytes, 1073741824},
    UnitWord{"B", Unit::bytes},
    UnitWord{"KB/s", Unit::bytes_per_second, 1000},
    UnitWord{"MB/s", Unit::bytes_per_second, 1000000},
    UnitWord{"W", Unit::watts},
    UnitWord{"mW", Unit::watts, 1, 1000},
    UnitWord{"C", Unit::celsius},
    UnitWord{"MHz", Unit::mhz},
    UnitWord{"us", Unit::seconds, 1, 1000000},
    UnitWord{"ms", Unit::seconds, 1, 1000},
    UnitWord{"s", Unit::seconds},
    UnitWord{"sec", Unit::seconds},
    UnitWord{"mV", Unit::volts, 1, 1000},
    UnitWord{"V", Unit::volts},
    UnitWord{"RPM", Unit::rpm},
    UnitWord{"", Unit::none},
    UnitWord{"x", Unit::none},
    UnitWord{"bank(s)", Unit::none},
};

const UnitWord *find_unit(Unit unit, std::string_view word) {
  for (const auto &known : kUnits) {
    if (known.unit == unit && (word.empty() || known.word == word)) return &known;
  }
  return nullptr;
}

std::optional<WallTime> from_local_time(int year, int month, int day, std::string_view clock) {
  constexpr int kFirstYear = 1970;
  constexpr int kLastYear = 2200;  // WallTime overflows in 2262
  const auto parts = split(clock, ':');
  if (parts.size() != 3) return std::nullopt;
  const auto hour = parse_integer<int>(parts[0]);
  const auto minute = parse_integer<int>(parts[1]);
  const auto second = parse_double(parts[2]);
  const auto within = [](auto value, auto low, auto high) { return value >= low && value <= high; };
  if (!hour || !minute || !second) return std::nullopt;
  if (!within(year, kFirstYear, kLastYear) || !within(month, 1, 12) || !within(day, 1, 31)) return std::nullopt;
  if (!within(*hour, 0, 23) || !within(*minute, 0, 59) || !within(*second, 0.0, 60.999)) return std::nullopt;
  std::tm parts_of_time{};
  parts_of_time.tm_year = year - 1900;
  parts_of_time.tm_mon = month - 1;
  parts_of_time.tm_mday = day;
  parts_of_time.tm_hour = *hour;
  parts_of_time.tm_min = *minute;
  parts_of_time.tm_isdst = -1;
  const auto whole = std::mktime(&parts_of_time);
  return WallTime(std::chrono::seconds(whole)) + std::chrono::milliseconds(std::llround(*second * 1e3));
}

}  // namespace

std::string_view unbracketed(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = trim(text.substr(1, text.size() - 2));
  return text;
}

bool same_word(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view &text) {
    while (!text.empty() && !is_letter_or_digit(text.front())) text.remove_prefix(1);
    const char c = text.empty() ? '\0' : text.front();
    if (!text.empty()) text.remove_prefix(1);
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  if (b.size() > kLongestWord) return false;
  while (true) {
    const char one = next(a);
    if (one != next(b)) return false;
    if (one == '\0') return true;
  }
}

std::optional<Reading> reason_in(std::string_view text) {
  text = unbracketed(text);
  if (text.size() > kLongestWord) return std::nullopt;
  const auto words = lower(text);
  for (const auto &known : kReasons) {
    if (words == known.words) return Reading(known.reason, known.code);
  }
  const auto *const error = find_nvml_error(text);
  return error != nullptr && error->code != 0 ? std::optional(reason_of(*error)) : std::nullopt;
}

std::optional<double> quantity(Unit kind, std::string_view text, std::string_view unit) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  const auto own = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  const auto *scale = find_unit(kind, own.empty() ? trim(unit) : own);
  if (scale == nullptr) return std::nullopt;
  return value * scale->times / scale->over;
}

TextReading read_text(std::string_view text) {
  if (const auto reason = reason_in(text)) return {reason->reason(), reason->code()};
  return short_text(text);
}

std::string short_text(std::string_view text) {
  text = trim(text);
  if (text.size() > kLongestText) {
    text = text.substr(0, kLongestText);
    // Do not cut through a character.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.remove_suffix(1);
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0U) text.remove_suffix(1);
  }
  return std::string(text);
}

std::optional<bool> read_flag(std::string_view text) {
  text = unbracketed(text);
  for (const auto *yes : {"Enabled", "Active", "Yes", "On", "Supported", "1"}) {
    if (same_word(yes, text)) return true;
  }
  for (const auto *no : {"Disabled", "Not Active", "No", "Off", "0"}) {
    if (same_word(no, text)) return false;
  }
  return std::nullopt;
}

std::optional<WallTime> read_time(std::string_view text) {
  const auto parts = split_words(text.substr(0, kLongestWord));
  if (parts.size() == 5) {
    static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto *const month = std::find(kMonths.begin(), kMonths.end(), parts[1]);
    const auto day = parse_integer<int>(parts[2]);
    const auto year = parse_integer<int>(parts[4]);
    if (month == kMonths.end() || !day || !year) return std::nullopt;
    return from_local_time(*year, static_cast<int>(month - kMonths.begin()) + 1, *day, parts[3]);
  }
  if (parts.size() != 2) return std::nullopt;
  const auto date = split(parts[0], '/');
  if (date.size() != 3) return std::nullopt;
  const auto year = parse_integer<int>(date[0]);
  const auto month = parse_integer<int>(date[1]);
  const auto day = parse_integer<int>(date[2]);
  return year && month && day ? from_local_time(*year, *month, *day, parts[1]) : std::nullopt;
}

std::string pci_address(std::string_view text) {
  text = trim(text);
  const auto parts = split(text.substr(0, kLongestWord), ':');
  if (parts.size() != 3) return {};
  const auto slot = split(parts[2], '.');
  if (slot.size() != 2) return {};
  const auto domain = parse_integer<std::uint32_t>(parts[0], 16);
  const auto bus = parse_integer<std::uint8_t>(parts[1], 16);
  const auto device = parse_integer<std::uint8_t>(slot[0], 16);
  const auto function = parse_integer<std::uint8_t>(slot[1], 16);
  if (!domain || !bus || !device || !function || *device > 31 || *function > 7) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", *domain, *bus, *device, *function);
}

std::string long_time(WallTime time) { return local_time(time, "%a %b %e %H:%M:%S %Y"); }

std::string stamp(WallTime time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  return fmt::format("{}.{:03}", local_time(time, "%Y/%m/%d %H:%M:%S"), ms);
}

}  // namespace gpulse::smi
