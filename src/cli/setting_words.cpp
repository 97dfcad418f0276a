// SPDX-License-Identifier: Apache-2.0
#include "cli/setting_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "metric/format.hpp"

namespace gpulse::cli {

namespace {

struct Word {
  std::string_view word;
  double value;
};
constexpr std::array kOnOff{Word{"on", 1}, Word{"off", 0}};
// By the numbers of the metric; exclusive-thread is gone from today's drivers.
constexpr std::array kComputeModes{Word{"default", 0}, Word{"exclusive-process", 3}, Word{"prohibited", 2}};

struct Row {
  SettingKind kind;
  std::string_view word, name, takes;
  std::span<const Word> modes = {};
};
constexpr std::array kRows{
    Row{SettingKind::persistence, "persistence", "persistence mode", "on|off", kOnOff},
    Row{SettingKind::compute_mode, "compute-mode", "compute mode", "default|exclusive-process|prohibited",
        kComputeModes},
    Row{SettingKind::power_limit, "power-limit", "power limit", "WATTS|default"},
    Row{SettingKind::graphics_clocks, "clocks", "graphics clocks", "MHZ|MIN-MAX|default"},
    Row{SettingKind::memory_clocks, "memory-clocks", "memory clocks", "MHZ|MIN-MAX|default"},
    Row{SettingKind::ecc, "ecc", "ECC mode", "on|off", kOnOff},
    Row{SettingKind::reset, "reset", "reset", ""},
};

const Row &row_of(SettingKind kind) {
  return *std::find_if(kRows.begin(), kRows.end(), [&](const Row &row) { return row.kind == kind; });
}

// A number above zero, with or without its unit.
std::optional<double> parse_amount(std::string_view text, std::string_view unit) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (text.size() > unit.size() &&
      std::equal(unit.begin(), unit.end(), text.end() - static_cast<std::ptrdiff_t>(unit.size()),
                 [&](char a, char b) { return lower(a) == lower(b); })) {
    text.remove_suffix(unit.size());
  }
  const auto value = parse_double(trim(text));
  constexpr double kMost = 1e6;
  return value && *value > 0 && *value < kMost ? value : std::nullopt;
}

bool parse_clocks(std::string_view text, Setting &setting) {
  const auto dash = text.find('-');
  const auto low = parse_amount(text.substr(0, dash), "MHz");
  const auto high = dash == std::string_view::npos ? low : parse_amount(text.substr(dash + 1), "MHz");
  if (!low || !high || *low > *high) return false;
  setting.low = *low;
  setting.high = *high;
  return true;
}

bool parse_value(const Row &row, std::string_view text, Setting &setting) {
  for (const auto &[word, value] : row.modes) {
    if (text != word) continue;
    setting.low = value;
    return true;
  }
  if (!row.modes.empty()) return false;
  if (row.kind == SettingKind::reset) return text.empty();
  if (text == "default") return setting.to_default = true;
  if (row.kind != SettingKind::power_limit) return parse_clocks(text, setting);
  const auto watts = parse_amount(text, "W");
  if (watts) setting.low = *watts;
  return watts.has_value();
}

std::string watts(double value) {
  auto text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " W";
}

std::string called(const Device &device) { return fmt::format("GPU {} ({})", device.index, device.identity->name); }

}  // namespace

Result<Setting> parse_setting(std::span<const std::string> words) {
  const auto row = words.empty() ? kRows.end() : std::find_if(kRows.begin(), kRows.end(), [&](const Row &one) {
    return one.word == words.front();
  });
  if (row == kRows.end()) {
    std::string names;
    for (const auto &one : kRows) names += (names.empty() ? "" : ", ") + std::string(one.word);
    return failure(words.empty() ? "nothing to set" : "no setting \"" + printable(words.front()) + "\"",
                   "one of " + names);
  }
  // "300 W" may stand in one word or two.
  std::string text;
  for (const auto &word : words.subspan(1)) text += word;
  Setting setting{.kind = row->kind};
  if (parse_value(*row, text, setting)) return setting;
  return failure(text.empty() ? fmt::format("{} needs a value", row->word)
                              : fmt::format("{} cannot be \"{}\"", row->word, printable(text)),
                 row->takes.empty() ? "it takes no value" : "it takes " + std::string(row->takes));
}

std::string_view setting_name(SettingKind kind) { return row_of(kind).name; }

std::string value_text(const Setting &setting, const Change &change, const Reading &value) {
  const auto metric = metric_of(setting, change.device);
  if (!value || !metric) return "?";
  if (setting.kind == SettingKind::power_limit) return watts(value.value());
  std::string text;
  for (const auto &word : value_words(describe(*metric), value.value())) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string target_text(const Setting &setting, const Change &change) {
  const bool clocks = setting.kind == SettingKind::graphics_clocks || setting.kind == SettingKind::memory_clocks;
  if (setting.to_default && (clocks || !change.target)) return "the default";
  if (!clocks) return value_text(setting, change, change.target);
  return setting.low == setting.high ? fmt::format("{:.0f} MHz", setting.low)
                                     : fmt::format("{:.0f}-{:.0f} MHz", setting.low, setting.high);
}

std::string intention(const Setting &setting, std::span<const Change *const> changes, bool all) {
  std::string whom;
  if (changes.size() == 1) {
    whom = called(changes.front()->device);
  } else {
    for (const auto *change : changes) whom += fmt::format("{}{}", whom.empty() ? "GPUs " : ", ", change->device.index);
    if (all) whom = fmt::format("all {} GPUs", changes.size());
  }
  if (setting.kind == SettingKind::reset) return "Reset " + whom;
  const auto &first = *changes.front();
  const auto to = target_text(setting, first);
  const bool alike = std::all_of(changes.begin(), changes.end(), [&](const Change *one) {
    return one->before && one->before == first.before && target_text(setting, *one) == to;
  });
  const auto from = alike ? " from " + value_text(setting, first, first.before) : std::string();
  const bool one_target = alike || !setting.to_default;
  return fmt::format("Set the {} of {}{} to {}", setting_name(setting.kind), whom, from,
                     one_target ? to : "the default");
}

std::string settings_help() {
  std::string out = "Settings:";
  for (const auto &row : kRows)
    out += fmt::format("\n  {:<14}{}", row.word, row.takes.empty() ? "(no value)" : row.takes);
  return out;
}

}  // namespace gpulse::cli
