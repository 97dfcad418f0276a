// SPDX-License-Identifier: Apache-2.0
#include "smi/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "base/text.hpp"
#include "metric/state_names.hpp"
#include "model/plausible.hpp"

namespace gpulse::smi {

namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestWord = 80;  // what nvidia-smi says in place of a value is shorter

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto &c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Letters and digits alone: "Exclusive_Process" and "exclusive process" are the same word.
std::string bare(std::string_view text) {
  auto out = lower(text.substr(0, kLongestWord));
  std::erase_if(out, [](char c) { return (c < 'a' || c > 'z') && (c < '0' || c > '9'); });
  return out;
}

// CSV puts what is no value into brackets.
std::string_view unbracketed(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = trim(text.substr(1, text.size() - 2));
  return text;
}

// As NVML words its errors, and what nvidia-smi says by itself.
struct ReasonWords {
  std::string_view words;
  Reason reason;
  std::uint16_t code = 0;
};
constexpr std::array kReasons{
    ReasonWords{"", Reason::not_supported},
    ReasonWords{"n/a", Reason::not_supported},
    ReasonWords{"not supported", Reason::not_supported},
    ReasonWords{"not available", Reason::not_supported},
    ReasonWords{"not available in wddm driver model", Reason::not_supported},
    ReasonWords{"not found", Reason::not_supported},
    ReasonWords{"function not found", Reason::not_supported},
    ReasonWords{"requested functionality has been deprecated", Reason::deprecated},
    ReasonWords{"insufficient permissions", Reason::no_permission},
    ReasonWords{"no permission", Reason::no_permission},
    ReasonWords{"gpu is lost", Reason::lost},
    ReasonWords{"lost", Reason::lost},
    ReasonWords{"gpu requires reset", Reason::reset_required},
    ReasonWords{"reset required", Reason::reset_required},
    ReasonWords{"no data", Reason::not_sampled},
    ReasonWords{"unknown error", Reason::error, 999},
    ReasonWords{"timeout", Reason::error, 10},
    ReasonWords{"interrupt request issue", Reason::error, 11},
    ReasonWords{"corrupted inforom", Reason::error, 14},
    ReasonWords{"err!", Reason::error},
    ReasonWords{"error", Reason::error},
};

struct UnitWord {
  std::string_view word;
  Unit unit;
  double times = 1;
  double over = 1;  // a quotient is exact to the last digit where a product with 1e-6 is not
};
// The first of a kind is the one that nvidia-smi leaves out with `nounits`, and where it never prints one.
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

// Words for numbers that have none in the metric table.
struct NumberWord {
  MetricId metric;
  std::string_view word;
  double value;
};
constexpr std::array kNumberWords{
    NumberWord{detail_metric("fabric_status"), "success", 0},
    NumberWord{detail_metric("fabric_health_summary"), "healthy", 1},
    NumberWord{detail_metric("fabric_health_summary"), "unhealthy", 2},
    NumberWord{detail_metric("fabric_health_summary"), "limitedcapacity", 3},
};

// nvidia-smi's words for states that we call otherwise.
struct OtherWord {
  std::string_view theirs, ours;
};
constexpr std::array kOtherWords{
    OtherWord{"vgpu", "guest"},
    OtherWord{"gpureset", "reset"},
    OtherWord{"nodereboot", "reboot"},
    OtherWord{"directconnected", "direct"},
    OtherWord{"switchconnected", "switch"},
};

std::optional<double> state_of(const Metric &metric, std::string_view text) {
  if (metric.words.data() == state_names::kOffOn.data() || metric.words.data() == state_names::kNoYes.data()) {
    const auto flag = read_flag(text);
    return flag ? std::optional(*flag ? 1.0 : 0.0) : std::nullopt;
  }
  auto word = bare(text);
  for (std::size_t i = 0; i < metric.words.size(); ++i) {
    if (word == bare(metric.words[i])) return static_cast<double>(i);
  }
  for (const auto &[theirs, ours] : kOtherWords) {
    if (word != theirs) continue;
    for (std::size_t i = 0; i < metric.words.size(); ++i) {
      if (metric.words[i] == ours) return static_cast<double>(i);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> whole_number(std::string_view text, int base) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_integer<std::uint64_t>(text.substr(2), 16);
  return parse_integer<std::uint64_t>(text, base);
}

// The words of a mask, in the order of its bits.
Reading read_atomics(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kNames{
      "FETCHADD_32", "FETCHADD_64", "SWAP_32", "SWAP_64", "CAS_32", "CAS_64", "CAS_128", "FETCHADD_128", "SWAP_128"};
  std::uint64_t bits = 0;
  for (const auto name : split_words(text)) {
    const auto *const at = std::find(kNames.begin(), kNames.end(), name);
    if (at == kNames.end()) return Reason::error;
    bits |= std::uint64_t{1} << static_cast<unsigned>(at - kNames.begin());
  }
  return static_cast<double>(bits);
}

Reading read_set(MetricId id, std::string_view text) {
  constexpr std::uint64_t kNamed = 0x1FF;  // the driver's bits are in the order of the words
  const auto bits = whole_number(text, 16);
  if (!bits) return Reason::error;
  return plausible(
      id, static_cast<double>((*bits & kNamed) | ((*bits & ~kNamed) != 0 ? state_names::throttle_bit("other") : 0)));
}

std::optional<WallTime> local_time(int year, int month, int day, std::string_view clock) {
  constexpr int kFirstYear = 1970;
  constexpr int kLastYear = 2200;  // nanoseconds since 1970 last until 2262
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

std::optional<Reading> reason_in(std::string_view text) {
  text = unbracketed(text);
  if (text.size() > kLongestWord) return std::nullopt;
  const auto words = lower(text);
  for (const auto &known : kReasons) {
    if (words == known.words) return Reading(known.reason, known.code);
  }
  return std::nullopt;
}

Reading read_quantity(Unit kind, std::string_view text, std::string_view unit) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return Reason::error;
  const auto own = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  const auto *scale = find_unit(kind, own.empty() ? trim(unit) : own);
  if (scale == nullptr) return Reason::error;
  return value * scale->times / scale->over;
}

Reading read_number(MetricId id, std::string_view text, std::string_view unit, int base) {
  const auto &metric = describe(id);
  text = unbracketed(text);
  // Before the reasons: "Not Supported" is a state of the fabric.
  if (metric.kind == Kind::state) {
    if (const auto state = state_of(metric, text)) return *state;
  }
  if (const auto reason = reason_in(text)) return *reason;
  if (metric.kind == Kind::set) return read_set(id, text);
  for (const auto &known : kNumberWords) {
    if (known.metric == id && bare(text) == known.word) return known.value;
  }
  if (id == detail_metric("pcie_atomics_outbound") || id == detail_metric("pcie_atomics_inbound")) {
    return read_atomics(text);
  }
  if (id == detail_metric("inforom_flush_time_seconds")) {
    const auto time = read_time(text);
    if (!time) return Reason::error;
    return std::chrono::floor<Seconds>(time->time_since_epoch()).count();
  }
  if (metric.unit == Unit::none && (base != 10 || text.starts_with("0x"))) {
    const auto number = whole_number(text, base);
    return number ? plausible(id, static_cast<double>(*number)) : Reason::error;
  }
  const auto value = read_quantity(metric.unit, text, unit);
  return value ? plausible(id, value.value()) : value;
}

TextReading read_text(std::string_view text) {
  if (const auto reason = reason_in(text)) return {reason->reason(), reason->code()};
  return short_text(text);
}

std::string short_text(std::string_view text) {
  text = trim(text);
  if (text.size() > kLongestText) {
    text = text.substr(0, kLongestText);
    // Not in the middle of a character.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.remove_suffix(1);
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0U) text.remove_suffix(1);
  }
  return printable(text);
}

std::optional<bool> read_flag(std::string_view text) {
  const auto word = bare(unbracketed(text));
  for (const auto *yes : {"enabled", "active", "yes", "on", "supported", "1"}) {
    if (word == yes) return true;
  }
  for (const auto *no : {"disabled", "notactive", "no", "off", "0"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

std::uint64_t event_reason_bit(std::string_view name) {
  struct Known {
    std::string_view name;
    std::uint64_t bit;
  };
  static constexpr std::array kKnown{
      Known{"gpu_idle", state_names::throttle_bit("idle")},
      Known{"applications_clocks_setting", state_names::throttle_bit("application clocks")},
      Known{"user_defined_clocks", state_names::throttle_bit("application clocks")},
      Known{"sw_power_cap", state_names::throttle_bit("power cap")},
      Known{"hw_slowdown", state_names::throttle_bit("hw slowdown")},
      Known{"sync_boost", state_names::throttle_bit("sync boost")},
      Known{"sw_thermal_slowdown", state_names::throttle_bit("sw thermal")},
      Known{"hw_thermal_slowdown", state_names::throttle_bit("hw thermal")},
      Known{"hw_power_brake_slowdown", state_names::throttle_bit("power brake")},
      Known{"display_clocks_setting", state_names::throttle_bit("display clocks")},
      Known{"unknown", state_names::throttle_bit("other")},
  };
  for (const auto &known : kKnown) {
    if (known.name == name) return known.bit;
  }
  return 0;
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
    return local_time(*year, static_cast<int>(month - kMonths.begin()) + 1, *day, parts[3]);
  }
  if (parts.size() != 2) return std::nullopt;
  const auto date = split(parts[0], '/');
  if (date.size() != 3) return std::nullopt;
  const auto year = parse_integer<int>(date[0]);
  const auto month = parse_integer<int>(date[1]);
  const auto day = parse_integer<int>(date[2]);
  return year && month && day ? local_time(*year, *month, *day, parts[1]) : std::nullopt;
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

}  // namespace gpulse::smi
