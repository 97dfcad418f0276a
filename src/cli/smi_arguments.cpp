// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;
using view::smi::QueryKind;
using Mode = SmiCommand::Mode;

constexpr int kBadArgument = 2, kNotUnderstood = 255;

enum class Takes : std::uint8_t { nothing, value, maybe };

enum class Meaning : std::uint8_t {
  list,
  excluded,
  log,
  xml,
  unit,
  display,
  devices,
  file,
  loop,
  loop_ms,
  format,
  query,
  help_query,
  help,
  version,
  parse,
  warnings,
  yes,
  setting,
};

struct Option {
  std::string_view name, full;
  Takes takes;
  Meaning meaning;
  QueryKind kind = QueryKind::gpu;
};

constexpr std::array kOptions{
    Option{"-L", "--list-gpus", Takes::nothing, Meaning::list},
    Option{"-B", "--list-excluded-gpus", Takes::nothing, Meaning::excluded},
    Option{"-q", "--query", Takes::nothing, Meaning::log},
    Option{"-x", "--xml-format", Takes::nothing, Meaning::xml},
    Option{"-u", "--unit", Takes::nothing, Meaning::unit},
    Option{"-d", "--display", Takes::value, Meaning::display},
    Option{"-i", "--id", Takes::value, Meaning::devices},
    Option{"-f", "--filename", Takes::value, Meaning::file},
    Option{"-l", "--loop", Takes::maybe, Meaning::loop},
    Option{"-lms", "--loop-ms", Takes::value, Meaning::loop_ms},
    Option{"", "--format", Takes::value, Meaning::format},
    Option{"", "--query-gpu", Takes::value, Meaning::query, QueryKind::gpu},
    Option{"", "--query-compute-apps", Takes::value, Meaning::query, QueryKind::compute_apps},
    Option{"", "--query-accounted-apps", Takes::value, Meaning::query, QueryKind::accounted_apps},
    Option{"", "--query-retired-pages", Takes::value, Meaning::query, QueryKind::retired_pages},
    Option{"", "--query-remapped-rows", Takes::value, Meaning::query, QueryKind::remapped_rows},
    Option{"", "--query-supported-clocks", Takes::value, Meaning::query, QueryKind::supported_clocks},
    Option{"", "--help-query-gpu", Takes::nothing, Meaning::help_query, QueryKind::gpu},
    Option{"", "--help-query-compute-apps", Takes::nothing, Meaning::help_query, QueryKind::compute_apps},
    Option{"", "--help-query-accounted-apps", Takes::nothing, Meaning::help_query, QueryKind::accounted_apps},
    Option{"", "--help-query-retired-pages", Takes::nothing, Meaning::help_query, QueryKind::retired_pages},
    Option{"", "--help-query-remapped-rows", Takes::nothing, Meaning::help_query, QueryKind::remapped_rows},
    Option{"", "--help-query-supported-clocks", Takes::nothing, Meaning::help_query, QueryKind::supported_clocks},
    Option{"-h", "--help", Takes::nothing, Meaning::help},
    Option{"", "--version", Takes::nothing, Meaning::version},
    Option{"", "--parse", Takes::value, Meaning::parse},
    Option{"-eow", "--error-on-warning", Takes::nothing, Meaning::warnings},
    Option{"", "--yes", Takes::nothing, Meaning::yes},
    Option{"-pm", "--persistence-mode", Takes::value, Meaning::setting},
    Option{"-e", "--ecc-config", Takes::value, Meaning::setting},
    Option{"-c", "--compute-mode", Takes::value, Meaning::setting},
    Option{"-pl", "--power-limit", Takes::value, Meaning::setting},
    Option{"-lgc", "--lock-gpu-clocks", Takes::value, Meaning::setting},
    Option{"-rgc", "--reset-gpu-clocks", Takes::nothing, Meaning::setting},
    Option{"-lmc", "--lock-memory-clocks", Takes::value, Meaning::setting},
    Option{"-rmc", "--reset-memory-clocks", Takes::nothing, Meaning::setting},
    Option{"-r", "--gpu-reset", Takes::maybe, Meaning::setting},
};

struct Given {
  const Option *option;
  std::string_view typed;
  std::optional<std::string_view> value;
};

std::unexpected<SmiRefusal> refuse(std::string text, int code) {
  return std::unexpected(SmiRefusal{std::move(text), code});
}

SmiResult<std::vector<Given>> read_options(std::span<const std::string_view> arguments) {
  std::vector<Given> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto typed = arguments[i];
    const auto name = typed.substr(0, typed.find('='));
    const auto found = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option &option) {
      return (!option.name.empty() && option.name == name) || option.full == name;
    });
    const bool joined = name.size() < typed.size();
    if (found == kOptions.end() || (joined && found->takes == Takes::nothing)) {
      return refuse(fmt::format("ERROR: Option {} is not recognized. Please run 'nvidia-smi -h'.\n\n", typed),
                    kNotUnderstood);
    }
    Given one{&*found, typed, std::nullopt};
    if (joined) {
      one.value = typed.substr(name.size() + 1);
    } else if (found->takes == Takes::value) {
      if (i + 1 >= arguments.size()) {
        return refuse(
            fmt::format("ERROR: Option {} is missing its value. Please run 'nvidia-smi -h' for help.\n\n", typed),
            kNotUnderstood);
      }
      one.value = arguments[++i];
    } else if (found->takes == Takes::maybe && i + 1 < arguments.size() && !arguments[i + 1].starts_with('-')) {
      one.value = arguments[++i];
    }
    given.push_back(one);
  }
  return given;
}

const Given *find(std::span<const Given> given, Meaning meaning) {
  const auto found =
      std::find_if(given.begin(), given.end(), [&](const Given &one) { return one.option->meaning == meaning; });
  return found == given.end() ? nullptr : &*found;
}

// What the command does, by the option that stands for it.
struct Purpose {
  Meaning meaning;
  Mode mode;
  std::array<Meaning, 6> allows;
};
constexpr std::array kPurposes{
    Purpose{Meaning::help, Mode::help, {}},
    Purpose{Meaning::parse, Mode::parse, {}},
    Purpose{Meaning::list, Mode::list, {}},
    Purpose{Meaning::excluded, Mode::excluded, {}},
    Purpose{Meaning::version, Mode::version, {}},
    Purpose{Meaning::help_query, Mode::help_query, {}},
    Purpose{Meaning::setting, Mode::set, {Meaning::devices, Meaning::warnings, Meaning::yes}},
    Purpose{Meaning::query,
            Mode::query,
            {Meaning::format, Meaning::devices, Meaning::file, Meaning::loop, Meaning::loop_ms, Meaning::warnings}},
    Purpose{Meaning::log,
            Mode::log,
            {Meaning::xml, Meaning::display, Meaning::devices, Meaning::file, Meaning::loop, Meaning::loop_ms}},
};

SmiResult<void> check_combination(std::span<const Given> given, const Purpose *purpose) {
  if (purpose == nullptr) {
    constexpr std::string_view kSpecify =
        "Invalid combination of input arguments. Specify -q/--query and {} to run {} query.  Please run 'nvidia-smi "
        "-h' for help.\n\n";
    if (find(given, Meaning::xml) != nullptr) {
      return refuse(fmt::format(kSpecify, "-x/--xml-format", "an XML"), kBadArgument);
    }
    if (find(given, Meaning::display) != nullptr) {
      return refuse(fmt::format(kSpecify, "-d/--display", "a filtered"), kBadArgument);
    }
    if (find(given, Meaning::unit) != nullptr)
      return refuse(fmt::format(kSpecify, "-u/--unit", "a unit"), kBadArgument);
    if (const auto *format = find(given, Meaning::format)) {
      return refuse(fmt::format("ERROR: Option {} is not recognized. Please run 'nvidia-smi -h'.\n\n", format->typed),
                    kNotUnderstood);
    }
    return {};
  }
  for (const auto &one : given) {
    const auto meaning = one.option->meaning;
    const bool allowed = meaning == purpose->meaning || meaning == Meaning::warnings ||
                         std::find(purpose->allows.begin(), purpose->allows.end(), meaning) != purpose->allows.end();
    const bool warned = meaning == Meaning::warnings && purpose->mode == Mode::list;
    if (allowed && !warned) continue;
    return refuse(
        fmt::format("ERROR: Option {} is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n",
                    one.typed),
        kBadArgument);
  }
  return {};
}

// Words that are no number count as the five seconds that no value means.
SmiResult<std::chrono::milliseconds> loop_time(const Given &given) {
  const auto unit = given.option->meaning == Meaning::loop_ms ? 1ms : 1000ms;
  const auto number = given.value ? parse_integer<std::int64_t>(*given.value) : std::optional<std::int64_t>(5);
  if (number && *number <= 0) {
    return refuse("Provided [-l(ms) | --loop(-ms)=] value is incorrect. Loop frequency must be greater than 0.\n\n",
                  kBadArgument);
  }
  return number ? *number * unit : 5000ms;
}

SmiResult<void> read_query(std::span<const Given> given, SmiCommand &command) {
  const auto count =
      std::count_if(given.begin(), given.end(), [](const Given &one) { return one.option->meaning == Meaning::query; });
  if (count > 1) return refuse("Only one --query-* switch can be used at a time.\n", kBadArgument);
  const auto &query = *find(given, Meaning::query);
  command.kind = query.option->kind;
  if (const auto *format = find(given, Meaning::format)) {
    auto words = *format->value;
    while (!words.empty()) {
      const auto word = next_piece(words, ',');
      if (word == "noheader") {
        command.style.header = false;
      } else if (word == "nounits") {
        command.style.units = false;
      } else if (word != "csv") {
        return refuse("Format modifier is not recognized.\n", kBadArgument);
      }
    }
  }
  auto fields = view::smi::parse_fields(command.kind, *query.value);
  if (!fields) return refuse(fields.error().what + "\n\n", kBadArgument);
  command.fields = std::move(*fields);
  return {};
}

}  // namespace

SmiResult<SmiCommand> parse_smi(std::span<const std::string_view> arguments) {
  const auto given = read_options(arguments);
  if (!given) return std::unexpected(given.error());
  SmiCommand command;
  const Purpose *purpose = nullptr;
  for (const auto &one : kPurposes) {
    if (purpose == nullptr && find(*given, one.meaning) != nullptr) purpose = &one;
  }
  if (auto checked = check_combination(*given, purpose); !checked) return std::unexpected(checked.error());
  if (purpose != nullptr) command.mode = purpose->mode;
  for (const auto &one : *given) {
    switch (one.option->meaning) {
      case Meaning::devices:
        command.devices = *one.value;
        break;
      case Meaning::file:
      case Meaning::parse:
        command.file = *one.value;
        break;
      case Meaning::xml:
        command.xml = true;
        break;
      case Meaning::yes:
        command.yes = true;
        break;
      case Meaning::help_query:
        command.kind = one.option->kind;
        break;
      case Meaning::setting:
        command.setting = {one.option->name, std::string(one.value.value_or(""))};
        break;
      case Meaning::loop:
      case Meaning::loop_ms: {
        const auto time = loop_time(one);
        if (!time) return std::unexpected(time.error());
        command.loop = *time;
        break;
      }
      case Meaning::display: {
        const auto sections = view::smi::parse_sections(*one.value);
        if (!sections) return refuse("Failed to parse --display/-d flags\n", kBadArgument);
        command.sections = *sections;
        break;
      }
      default:
        break;
    }
  }
  if (command.xml && command.sections != 0) {
    return refuse(
        "Invalid combination of input arguments: --display/-d flags can not be combined with -x/--xml-format flags.\n",
        kBadArgument);
  }
  if (command.mode == Mode::query) {
    if (auto read = read_query(*given, command); !read) return std::unexpected(read.error());
  }
  return command;
}

namespace {

struct MonitorOption {
  std::string_view name, full;
};

// Wrong input gets the usage and, as in the original, a good exit code.
SmiRefusal usage(std::string_view why, const std::string &help) { return {fmt::format("{}\n{}\n", why, help), 0}; }

SmiRefusal cannot(std::string_view why) { return {fmt::format("{}\nFailed to process command line \n\n", why), 255}; }

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
          cannot(fmt::format("{} is not a recognized format option\nError parsing format options", word)));
    }
  }
  return {};
}

struct MonitorRules {
  std::string_view letters;
  std::int64_t longest_delay;
  bool device;  // dmon: has formats and activities
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
    if (!seconds || *seconds < 1 || *seconds > rules.longest_delay) {
      return std::unexpected(
          usage(fmt::format("Collection delay/interval should be between 1 second and {} seconds", rules.longest_delay),
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
  static constexpr std::array<std::string_view, 3> kDevice{"--format", "--gpm-metrics", "--gpm-options"};
  const auto has = [](const auto &names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  MonitorCommand command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto typed = arguments[i];
    const auto name = typed.substr(0, typed.find('='));
    if (name == "-h" || name == "--help") return refuse(rules.help(), 0);
    if (!has(kBoth, name) && !(rules.device && has(kDevice, name))) {
      return std::unexpected(usage(fmt::format("Option \"{}\" is not recognized.", typed), rules.help()));
    }
    std::string_view value;
    if (name.size() < typed.size()) {
      value = typed.substr(name.size() + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return std::unexpected(usage(fmt::format("Option \"{}\" is missing its value.", typed), rules.help()));
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
