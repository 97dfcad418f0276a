// SPDX-License-Identifier: Apache-2.0
#include "control/setting_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "metric/format.hpp"

namespace gpulse::control {

namespace {

// "on|off", "WATTS|default"; empty for a setting without a value.
std::string accepted_values(const SettingRow &row) {
  switch (row.takes) {
    case Takes::mode:
    case Takes::which:
      break;
    case Takes::watts:
      return "WATTS|default";
    case Takes::celsius:
      return "CELSIUS";
    case Takes::clocks:
      return "MHZ|MIN-MAX|default";
    case Takes::clock_pair:
      return "MEMORY,GRAPHICS|default";
    case Takes::nothing:
      return "";
  }
  std::string words;
  for (const auto &mode : row.modes) {
    if (!mode.word.empty()) words += (words.empty() ? "" : "|") + std::string(mode.word);
  }
  return words;
}

// A number above zero, with or without its unit.
std::optional<double> parse_amount(std::string_view text, std::string_view unit) {
  if (text.size() > unit.size() && lower(text.substr(text.size() - unit.size())) == lower(unit)) {
    text.remove_suffix(unit.size());
  }
  const auto value = parse_double(trim(text));
  constexpr double kMax = 1e6;
  return value && *value > 0 && *value < kMax ? value : std::nullopt;
}

bool parse_mode(const SettingRow &row, std::string_view text, Setting &setting) {
  for (const auto &mode : row.modes) {
    if (mode.word.empty() || mode.word != text) continue;
    setting.low = mode.value;
    return true;
  }
  return false;
}

bool parse_watts(std::string_view text, Setting &setting) {
  if (text == "default") return setting.to_default = true;
  const auto watts = parse_amount(text, "W");
  if (watts) setting.low = *watts;
  return watts.has_value();
}

bool parse_celsius(std::string_view text, Setting &setting) {
  for (const std::string_view unit : {"°C", "C"}) {
    if (text.ends_with(unit)) text.remove_suffix(unit.size());
  }
  const auto degrees = parse_amount(text, "");
  if (degrees) setting.low = *degrees;
  return degrees.has_value();
}

bool parse_clocks(std::string_view text, Setting &setting) {
  if (text == "default") return setting.to_default = true;
  const auto dash = text.find('-');
  const auto low = parse_amount(text.substr(0, dash), "MHz");
  const auto high = dash == std::string_view::npos ? low : parse_amount(text.substr(dash + 1), "MHz");
  if (!low || !high || *low > *high) return false;
  setting.low = *low;
  setting.high = *high;
  return true;
}

bool parse_clock_pair(std::string_view text, Setting &setting) {
  if (text == "default") return setting.to_default = true;
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return false;
  const auto memory = parse_amount(text.substr(0, comma), "MHz");
  const auto graphics = parse_amount(text.substr(comma + 1), "MHz");
  if (!memory || !graphics) return false;
  setting.low = *memory;
  setting.high = *graphics;
  return true;
}

bool parse_value(const SettingRow &row, std::string_view text, Setting &setting) {
  switch (row.takes) {
    case Takes::mode:
    case Takes::which:
      return parse_mode(row, text, setting);
    case Takes::watts:
      return parse_watts(text, setting);
    case Takes::celsius:
      return parse_celsius(text, setting);
    case Takes::clocks:
      return parse_clocks(text, setting);
    case Takes::clock_pair:
      return parse_clock_pair(text, setting);
    case Takes::nothing:
      return text.empty();
  }
  return false;
}

std::string watts_text(double value) {
  auto text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " W";
}

std::string devices_text(std::span<const Change *const> changes, bool all) {
  if (changes.size() == 1) return device_label(changes.front()->device);
  if (all) return fmt::format("all {} GPUs", changes.size());
  std::string text;
  for (const auto *change : changes)
    text += fmt::format("{}{}", text.empty() ? "GPUs " : ", ", gpulse::text(change->device.id));
  return text;
}

}  // namespace

Result<Setting> parse_setting(std::span<const std::string> words) {
  const auto rows = setting_rows();
  const auto row = words.empty() ? rows.end() : std::find_if(rows.begin(), rows.end(), [&](const SettingRow &one) {
    return one.word == words.front();
  });
  if (row == rows.end()) {
    std::string names;
    for (const auto &one : rows) names += (names.empty() ? "" : ", ") + std::string(one.word);
    return failure(words.empty() ? "nothing to set" : "no setting \"" + words.front() + "\"", "one of " + names);
  }
  // "300 W" may come as one argument or two.
  std::string text;
  for (const auto &word : words.subspan(1)) text += word;
  Setting setting{.kind = row->kind};
  if (parse_value(*row, text, setting)) return setting;
  return failure(
      text.empty() ? fmt::format("{} needs a value", row->word) : fmt::format("{} cannot be \"{}\"", row->word, text),
      row->takes == Takes::nothing ? "it takes no value" : "it takes " + accepted_values(*row));
}

std::string action_text(const Setting &setting, std::string_view sentence, std::string_view devices) {
  const auto *mode = find_mode(row_of(setting.kind), setting.low);
  return fmt::format(fmt::runtime(sentence), fmt::arg("devices", devices),
                     fmt::arg("which", mode != nullptr ? mode->word : ""));
}

std::string device_label(const Device &device) {
  return fmt::format("GPU {} ({})", text(device.id), device.identity->name);
}

std::string value_text(const Setting &setting, const Change &change, const Reading &value) {
  const auto metric = metric_of(setting, change.device);
  if (!value || !metric) return "?";
  if (row_of(setting.kind).takes == Takes::watts) return watts_text(value.value());
  if (row_of(setting.kind).takes == Takes::celsius) return fmt::format("{:.0f} °C", value.value());
  std::string text;
  for (const auto &word : value_words(describe(*metric), value.value())) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string target_text(const Setting &setting, const Change &change) {
  const auto takes = row_of(setting.kind).takes;
  const bool clocks = takes == Takes::clocks || takes == Takes::clock_pair;
  if (setting.to_default && (clocks || !change.target)) return "the default";
  if (!clocks) return value_text(setting, change, change.target);
  if (takes == Takes::clock_pair) return fmt::format("{:.0f},{:.0f} MHz", setting.low, setting.high);
  return setting.low == setting.high ? fmt::format("{:.0f} MHz", setting.low)
                                     : fmt::format("{:.0f}-{:.0f} MHz", setting.low, setting.high);
}

std::string intention(const Setting &setting, std::span<const Change *const> changes, bool all) {
  const auto &row = row_of(setting.kind);
  const auto devices = devices_text(changes, all);
  if (is_action(row)) return action_text(setting, row.action.intention, devices);
  const auto &first = *changes.front();
  const auto to = target_text(setting, first);
  const bool same_everywhere = std::all_of(changes.begin(), changes.end(), [&](const Change *one) {
    return one->before && one->before == first.before && target_text(setting, *one) == to;
  });
  const auto from = same_everywhere ? " from " + value_text(setting, first, first.before) : std::string();
  const bool one_target = same_everywhere || !setting.to_default;
  return fmt::format("Set the {} of {}{} to {}", row.name, devices, from, one_target ? to : "the default");
}

std::string settings_help() {
  std::string out = "Settings:";
  for (const auto &row : setting_rows()) {
    out += fmt::format("\n  {:<19}{}", row.word, row.takes == Takes::nothing ? "(no value)" : accepted_values(row));
  }
  return out;
}

}  // namespace gpulse::control
