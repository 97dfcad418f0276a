// SPDX-License-Identifier: Apache-2.0
#include "control/smi_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace gpulse::control {

namespace {

constexpr std::string_view kTerminating = "Terminating early due to previous errors.\n";

// Limits without a number: the driver has special values for them.
struct ClockWord {
  std::string_view word;
  std::uint32_t number;
};
constexpr std::array kClockWords{ClockWord{"tdp", 0xFFFFFF01}, ClockWord{"unlimited", 0xFFFFFF02}};

std::unexpected<SmiMistake> invalid_value(std::string_view typed, std::string_view value) {
  return std::unexpected(SmiMistake{fmt::format(
      "ERROR: Option {} is invalid for {}. Please run 'nvidia-smi -h' for help.\n\n", Text(value), Text(typed))});
}

std::unexpected<SmiMistake> invalid_clocks(const SettingRow &row, std::string_view text) {
  return std::unexpected(SmiMistake{fmt::format("Specified clocks \"{}\" are not valid. Please format input as {}\n{}",
                                                Text(text), row.smi.format, kTerminating),
                                    true});
}

std::expected<double, SmiMistake> parse_mode(const SettingRow &row, std::string_view typed, std::string_view text) {
  if (const auto number = parse_integer<std::int64_t>(text)) {
    if (const auto *mode = find_mode(row, static_cast<double>(*number))) return mode->value;
    return std::unexpected(
        SmiMistake{fmt::format("Invalid {}: {}\n{}", row.smi.mode_name, *number, kTerminating), true});
  }
  const auto mode =
      std::find_if(row.modes.begin(), row.modes.end(), [&](const Mode &one) { return one.smi_word == text; });
  if (mode == row.modes.end()) return invalid_value(typed, text);
  return mode->value;
}

std::optional<double> parse_clock(std::string_view text) {
  for (const auto &[word, number] : kClockWords) {
    if (text == word) return number;
  }
  return parse_integer<std::uint32_t>(text);
}

std::expected<Setting, SmiMistake> parse_clocks(const SettingRow &row, std::string_view text) {
  const auto comma = text.find(',');
  const auto low = parse_clock(text.substr(0, comma));
  const auto high = comma == std::string_view::npos ? low : parse_clock(text.substr(comma + 1));
  if (low && high) return Setting{.kind = row.kind, .low = *low, .high = *high};
  return invalid_clocks(row, text);
}

std::expected<Setting, SmiMistake> parse_clock_pair(const SettingRow &row, std::string_view text) {
  auto rest = text;
  const auto memory = parse_integer<std::uint32_t>(next_piece(rest, ','));
  const auto graphics = parse_integer<std::uint32_t>(rest);
  if (memory && graphics) {
    return Setting{.kind = row.kind, .low = static_cast<double>(*memory), .high = static_cast<double>(*graphics)};
  }
  return invalid_clocks(row, text);
}

std::expected<Setting, SmiMistake> parse_number(const SettingRow &row, std::string_view typed, std::string_view text) {
  const auto number = row.takes == Takes::celsius
                          ? parse_integer<std::int32_t>(text).transform([](int n) { return double(n); })
                          : parse_double(text);
  if (!number) return invalid_value(typed, text);
  return Setting{.kind = row.kind, .low = *number};
}

std::string clock_text(double value) {
  for (const auto &[word, number] : kClockWords) {
    if (value == number) return std::string(word);
  }
  return fmt::format("{:.0f}", value);
}

std::string fill(std::string_view sentence, const Setting &setting, const Change &change, std::string_view gpu,
                 std::string_view why = "") {
  const auto *found = find_mode(row_of(setting.kind), setting.low);
  const auto mode = found != nullptr ? *found : Mode{};
  const std::string_view verb = !mode.smi_verb.empty() ? mode.smi_verb : setting.to_default ? "reset" : "set";
  return fmt::format(fmt::runtime(sentence), fmt::arg("gpu", gpu), fmt::arg("why", why),
                     fmt::arg("mode", mode.smi_word), fmt::arg("state", mode.smi_state), fmt::arg("verb", verb),
                     fmt::arg("low", clock_text(setting.low)), fmt::arg("high", clock_text(setting.high)),
                     fmt::arg("before", change.before.value_or(0)),
                     fmt::arg("after", change.after.value_or(setting.low)),
                     fmt::arg("target", change.target.value_or(setting.low)),
                     fmt::arg("minimum", change.minimum.value_or(0)), fmt::arg("maximum", change.maximum.value_or(0))) +
         "\n";
}

// "-pm, --persistence-mode=0|1".
std::string option_text(const SettingRow &row, const SmiOption &option) {
  auto text = fmt::format("{}, {}", option.name, option.full);
  if (option.to_default || row.takes == Takes::nothing) return text;
  if (row.takes == Takes::watts) return text + "=WATTS";
  if (row.takes == Takes::celsius) return text + "=CELSIUS";
  if (row.takes == Takes::clocks) return text + "=MIN,MAX";
  if (row.takes == Takes::clock_pair) return text + "=MEM,SM";
  std::vector<double> values;
  for (const auto &mode : row.modes) {
    if (!mode.word.empty()) values.push_back(mode.value);
  }
  std::sort(values.begin(), values.end());
  return fmt::format("{}={}", text, fmt::join(values, "|"));
}

}  // namespace

std::expected<Setting, SmiMistake> parse_smi_setting(std::string_view option, std::string_view value,
                                                     std::string_view typed) {
  if (typed.empty()) typed = option;
  for (const auto &row : setting_rows()) {
    const auto found = std::find_if(row.smi_options.begin(), row.smi_options.end(),
                                    [&](const SmiOption &one) { return one.name == option; });
    if (found == row.smi_options.end()) continue;
    Setting setting{.kind = row.kind, .to_default = found->to_default};
    if (setting.to_default || row.takes == Takes::nothing) return setting;
    if (row.takes == Takes::clocks) return parse_clocks(row, value);
    if (row.takes == Takes::clock_pair) return parse_clock_pair(row, value);
    if (row.takes == Takes::watts || row.takes == Takes::celsius) return parse_number(row, typed, value);
    const auto mode = parse_mode(row, typed, value);
    if (!mode) return std::unexpected(mode.error());
    setting.low = *mode;
    return setting;
  }
  return invalid_value(typed, value);
}

bool smi_would_set(const Setting &setting, const Change &change) {
  return change.obstacle == Obstacle::none || row_of(setting.kind).smi.already.empty();
}

bool smi_stops_at(const Setting &setting, SettingFailure failure) {
  const auto &row = row_of(setting.kind);
  if (failure == SettingFailure::invalid) return row.smi.invalid.empty();
  return failure != SettingFailure::not_supported || row.only_when_idle;
}

std::string smi_done(const Setting &setting, const Change &change, std::string_view gpu, std::string_view waits_for) {
  // A reset to the default goes without a word.
  if (setting.to_default) return "";
  if (change.waits) {
    const auto &smi = row_of(setting.kind).smi;
    return fill(change.waits->failure == SettingFailure::in_use ? smi.waits_in_use : smi.waits, setting, change, gpu,
                waits_for);
  }
  auto text = fill(row_of(setting.kind).smi.done, setting, change, gpu);
  if (!change.soon_forgotten) return text;
  return text + fmt::format(
                    "\nWarning: persistence mode is disabled on device {}. See the Known Issues section of the "
                    "nvidia-smi(1) man page for more information. Run with [--help | -h] switch to get more "
                    "information on how to enable persistence mode.\n",
                    gpu);
}

std::string smi_already(const Setting &setting, const Change &change, std::string_view gpu) {
  return fill(row_of(setting.kind).smi.already, setting, change, gpu);
}

std::string smi_out_of_range(const Setting &setting, const Change &change, std::string_view gpu) {
  return fill(row_of(setting.kind).smi.out_of_range, setting, change, gpu) + std::string(kTerminating);
}

std::string smi_refused(const Setting &setting, const Change &change, SettingFailure failure, std::string_view gpu,
                        std::string_view why) {
  const auto &sentences = row_of(setting.kind).smi;
  auto sentence = sentences.refused;
  if (failure == SettingFailure::no_permission && !sentences.no_permission.empty()) sentence = sentences.no_permission;
  if (failure == SettingFailure::not_supported && !sentences.unsupported.empty()) sentence = sentences.unsupported;
  if (failure == SettingFailure::invalid && !sentences.invalid.empty()) sentence = sentences.invalid;
  auto text = fill(sentence, setting, change, gpu, why);
  if (!smi_stops_at(setting, failure)) return text + "Treating as warning and moving on.\n";
  return failure == SettingFailure::not_supported ? text : text + std::string(kTerminating);
}

std::string smi_closing(const Setting &setting, bool changed) {
  const auto &row = row_of(setting.kind);
  std::string text = row.only_when_idle ? "" : "All done.\n";
  if (changed && row.effect == Effect::after_restart) text += "Reboot required.\n";
  return text;
}

std::string smi_settings_help() {
  constexpr std::array<std::size_t, 3> kColumns{2, 38, 70};
  std::vector<const SettingRow *> rows;
  for (const auto &row : setting_rows()) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(), [](const SettingRow *a, const SettingRow *b) {
    return std::pair(a->takes, a->kind) < std::pair(b->takes, b->kind);
  });
  std::string out, line;
  std::size_t column = 0;
  const auto end_line = [&] {
    if (!line.empty()) out += line + "\n";
    line.clear();
    column = 0;
  };
  const auto add = [&](std::string_view text) {
    if (column == kColumns.size()) end_line();
    line.resize(std::max(line.size() + 1, kColumns[column++]), ' ');
    line += text;
  };
  for (const auto *row : rows) {
    if (row->only_when_idle) end_line();
    for (const auto &option : row->smi_options) add(option_text(*row, option));
    if (row->only_when_idle) add("only where nothing runs on the GPU");
  }
  end_line();
  return out;
}

}  // namespace gpulse::control
