// SPDX-License-Identifier: Apache-2.0
// The command lines of `gpulse smi dmon` and `pmon`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cli/smi_arguments.hpp"

namespace gpulse::cli {

namespace {

// Like nvidia-smi, prints the usage and exits with 0.
SmiRefusal usage(std::string_view why, const std::string &help) { return {fmt::format("{}\n{}\n", why, help), 0}; }

SmiRefusal cannot(std::string_view why) {
  return {fmt::format("{}\nFailed to process command line \n\n", why), kOther};
}

SmiResult<void> read_format(std::string_view words, MonitorCommand &command) {
  while (!words.empty()) {
    const auto word = next_piece(words, ',');
    if (word == "csv") {
      command.csv = true;
    } else if (word == "noheader") {
      command.names = false;
    } else if (word == "nounit") {
      command.units = false;
    } else {
      return std::unexpected(
          cannot(fmt::format("{} is not a recognized format option\nError parsing format options", Text(word))));
    }
  }
  return {};
}

struct MonitorRules {
  std::string_view letters;
  std::int64_t max_delay_s;
  bool is_dmon;  // which has more options
  std::string (*help)();
};

SmiResult<void> take(std::string_view name, std::string_view value, const MonitorRules &rules,
                     MonitorCommand &command) {
  if (name == "-i" || name == "--id") {
    command.devices = value;
  } else if (name == "-f" || name == "--filename") {
    command.file = value;
  } else if (name == "-d" || name == "--delay") {
    const auto seconds = parse_integer<std::int64_t>(value);
    if (!seconds || *seconds < 1 || *seconds > rules.max_delay_s) {
      return std::unexpected(
          usage(fmt::format("Collection delay/interval should be between 1 second and {} seconds", rules.max_delay_s),
                rules.help()));
    }
    command.delay = std::chrono::seconds(*seconds);
  } else if (name == "-c" || name == "--count") {
    const auto count = parse_integer<std::uint64_t>(value);
    if (!count || *count == 0) {
      return std::unexpected(usage("Invalid value for number of samples to be displayed", rules.help()));
    }
    command.count = count;
  } else if (name == "-s" || name == "--select") {
    if (value.empty() || value.find_first_not_of(rules.letters) != std::string_view::npos) {
      return std::unexpected(cannot("Failed to find any metric to display"));
    }
    command.select = value;
  } else if (name == "-o" || name == "--options") {
    if (value.find_first_not_of("DT") != std::string_view::npos) {
      return std::unexpected(cannot("Error in parsing options"));
    }
    command.date = value.find('D') != std::string_view::npos;
    command.time = value.find('T') != std::string_view::npos;
  } else if (name == "--format") {
    return read_format(value, command);
  } else if (name == "--gpm-metrics") {
    command.activities = value;
  }
  return {};
}

SmiResult<MonitorCommand> parse_monitor(std::span<const std::string_view> arguments, const MonitorRules &rules) {
  static constexpr std::array<std::string_view, 12> kBoth{"-i", "--id",     "-d", "--delay",   "-c", "--count",
                                                          "-s", "--select", "-o", "--options", "-f", "--filename"};
  static constexpr std::array<std::string_view, 3> kOnlyDmon{"--format", "--gpm-metrics", "--gpm-options"};
  const auto has = [](const auto &names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  MonitorCommand command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto typed = arguments[i];
    const auto name = typed.substr(0, typed.find('='));
    if (name == "-h" || name == "--help") return refuse(rules.help(), 0);
    if (!has(kBoth, name) && !(rules.is_dmon && has(kOnlyDmon, name))) {
      return std::unexpected(usage(fmt::format("Option \"{}\" is not recognized.", Text(typed)), rules.help()));
    }
    std::string_view value;
    if (name.size() < typed.size()) {
      value = typed.substr(name.size() + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return std::unexpected(usage(fmt::format("Option \"{}\" is missing its value.", Text(typed)), rules.help()));
    }
    if (auto taken = take(name, value, rules, command); !taken) return std::unexpected(taken.error());
  }
  return command;
}

}  // namespace

SmiResult<MonitorCommand> parse_dmon(std::span<const std::string_view> arguments) {
  auto command = parse_monitor(arguments, {"pucvmet", 600, true, dmon_help});
  if (command && command->select.empty()) command->select = "puc";
  return command;
}

SmiResult<MonitorCommand> parse_pmon(std::span<const std::string_view> arguments) {
  auto command = parse_monitor(arguments, {"um", 10, false, pmon_help});
  if (command && command->select.empty()) command->select = "u";
  return command;
}

}  // namespace gpulse::cli
