// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "control/rows.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;
using smi::QueryKind;
using Mode = SmiCommand::Mode;

enum class Takes : std::uint8_t { nothing, value, maybe };

enum class Meaning : std::uint8_t {
  none,
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
  schema,
  warnings,
  yes,
  setting,
  refused,
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
    Option{"", "--schema", Takes::value, Meaning::schema},
    Option{"-eow", "--error-on-warning", Takes::nothing, Meaning::warnings},
    Option{"", "--yes", Takes::nothing, Meaning::yes},
    // Of nvidia-smi, without a counterpart.
    Option{"", "--dtd", Takes::nothing, Meaning::refused},
    Option{"-col", "", Takes::nothing, Meaning::refused},  // --columns is an option of ours
    Option{"", "--gom", Takes::value, Meaning::refused},
    Option{"-vm", "--virt-mode", Takes::value, Meaning::refused},
    Option{"-m", "--mode", Takes::value, Meaning::refused},
    Option{"-lmcd", "--lock-memory-clocks-deferred", Takes::value, Meaning::refused},
    Option{"-rmcd", "--reset-memory-clocks-deferred", Takes::nothing, Meaning::refused},
    Option{"-sc", "--scope", Takes::value, Meaning::refused},
    Option{"-cc", "--cuda-clocks", Takes::value, Meaning::refused},
    Option{"-acp", "--applications-clocks-permission", Takes::value, Meaning::refused},
    Option{"", "--auto-boost-default", Takes::value, Meaning::refused},
    Option{"", "--auto-boost-permission", Takes::value, Meaning::refused},
    Option{"-fdm", "--force-driver-model", Takes::value, Meaning::refused},
    Option{"-dm", "--driver-model", Takes::value, Meaning::refused},
    Option{"-den", "--dram-encryption", Takes::value, Meaning::refused},
    Option{"", "--set-hostname", Takes::value, Meaning::refused},
    Option{"", "--get-hostname", Takes::nothing, Meaning::refused},
    Option{"-t", "--toggle-led", Takes::value, Meaning::refused},
    Option{"", "--debug", Takes::value, Meaning::refused},
};

// The above, and those of the settings.
const std::vector<Option> &all_options() {
  static const auto kAll = [] {
    std::vector<Option> all(kOptions.begin(), kOptions.end());
    for (const auto &row : control::setting_rows()) {
      for (const auto &[name, full, to_default] : row.smi_options) {
        const auto takes = row.only_when_idle                                   ? Takes::maybe
                           : to_default || row.takes == control::Takes::nothing ? Takes::nothing
                                                                                : Takes::value;
        all.push_back({name, full, takes, Meaning::setting});
      }
    }
    return all;
  }();
  return kAll;
}

struct Given {
  const Option *option;
  Text typed;
  std::optional<std::string_view> value;
};

// A line of ours beside nvidia-smi's complaint; empty where nothing is near.
std::string nearest_option(std::string_view typed) {
  std::vector<std::string_view> names;
  for (const auto &option : all_options()) {
    for (const auto name : {option.full, option.name}) {
      if (!name.empty() && option.meaning != Meaning::refused) names.push_back(name);
    }
  }
  return did_you_mean(typed, names, "");
}

SmiResult<std::vector<Given>> read_options(std::span<const std::string_view> arguments) {
  const auto &options = all_options();
  std::vector<Given> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto typed = arguments[i];
    const auto name = typed.substr(0, typed.find('='));
    const auto found = std::find_if(options.begin(), options.end(), [&](const Option &option) {
      return !name.empty() && (option.name == name || option.full == name);
    });
    const bool joined = name.size() < typed.size();
    if (found == options.end() || (joined && found->takes == Takes::nothing)) {
      return std::unexpected(
          SmiRefusal{fmt::format("ERROR: Option {} is not recognized. Please run 'nvidia-smi -h'.\n\n", Text(typed)),
                     kOther, nearest_option(name)});
    }
    Given one{&*found, typed, std::nullopt};
    // What a setting takes never begins with a dash.
    const auto is_value = [&](std::string_view next) {
      return found->meaning != Meaning::setting || !next.starts_with('-');
    };
    if (joined) {
      one.value = typed.substr(name.size() + 1);
    } else if (found->takes == Takes::value) {
      if (i + 1 >= arguments.size() || !is_value(arguments[i + 1])) {
        return refuse(
            fmt::format("ERROR: Option {} is missing its value. Please run 'nvidia-smi -h' for help.\n\n", Text(typed)),
            kOther);
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

// What the command does: decided by the first of these options that is given.
struct Purpose {
  Meaning meaning;
  Mode mode;
  std::array<Meaning, 8> allows;
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
            {Meaning::xml, Meaning::unit, Meaning::display, Meaning::devices, Meaning::file, Meaning::loop,
             Meaning::loop_ms, Meaning::schema}},
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
                    kOther);
    }
    return {};
  }
  const auto *first = find(given, purpose->meaning);
  for (const auto &one : given) {
    const auto meaning = one.option->meaning;
    // One setting at a time: a second would be made, or not, behind the user's back.
    const bool second = meaning == Meaning::setting && &one != first;
    const bool allowed = meaning == purpose->meaning || meaning == Meaning::warnings ||
                         std::find(purpose->allows.begin(), purpose->allows.end(), meaning) != purpose->allows.end();
    const bool warned = meaning == Meaning::warnings && purpose->mode == Mode::list;
    if (allowed && !warned && !second) continue;
    return refuse(
        fmt::format("ERROR: Option {} is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n",
                    one.typed),
        kBadArgument);
  }
  return {};
}

// Like nvidia-smi, takes five seconds if the value is missing or not a number.
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
  if (!fields) {
    return std::unexpected(SmiRefusal{fields.error().what + "\n\n", kBadArgument, fields.error().remedy.str()});
  }
  command.fields = std::move(*fields);
  return {};
}

SmiResult<void> take(const Given &one, SmiCommand &command) {
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
    case Meaning::unit:
      command.units = true;
      break;
    case Meaning::yes:
      command.yes = true;
      break;
    case Meaning::help_query:
      command.kind = one.option->kind;
      break;
    case Meaning::setting:
      command.setting = {one.option->name, std::string(one.value.value_or("")), one.typed};
      break;
    case Meaning::loop:
    case Meaning::loop_ms: {
      const auto time = loop_time(one);
      if (!time) return std::unexpected(time.error());
      command.loop = *time;
      break;
    }
    case Meaning::schema: {
      const auto schema = view::smi::parse_schema(*one.value);
      if (!schema) {
        return refuse(fmt::format("There is no version {} of the log; from v{} to v{} can be written.\n",
                                  Text(*one.value), smi::kOldestSchema, smi::kNewestSchema),
                      kBadArgument);
      }
      command.log.schema = *schema;
      break;
    }
    case Meaning::display: {
      const auto sections = view::smi::parse_sections(*one.value);
      if (!sections) return refuse("Failed to parse --display/-d flags\n", kBadArgument);
      command.log.sections = *sections;
      break;
    }
    default:
      break;
  }
  return {};
}

}  // namespace

SmiResult<SmiCommand> parse_smi(std::span<const std::string_view> arguments) {
  const auto given = read_options(arguments);
  if (!given) return std::unexpected(given.error());
  if (const auto *refused = find(*given, Meaning::refused)) return not_offered(refused->typed.str());
  const auto purpose = std::find_if(kPurposes.begin(), kPurposes.end(),
                                    [&](const Purpose &one) { return find(*given, one.meaning) != nullptr; });
  const auto *chosen = purpose == kPurposes.end() ? nullptr : &*purpose;
  if (auto checked = check_combination(*given, chosen); !checked) return std::unexpected(checked.error());
  SmiCommand command;
  if (chosen != nullptr) command.mode = chosen->mode;
  for (const auto &one : *given) {
    if (auto taken = take(one, command); !taken) return std::unexpected(taken.error());
  }
  if (command.xml && command.log.sections != 0) {
    return refuse(
        "Invalid combination of input arguments: --display/-d flags can not be combined with -x/--xml-format flags.\n",
        kBadArgument);
  }
  if (command.units && !command.devices.empty()) {
    return refuse(fmt::format("Specified unit index {} is not valid\n", Text(command.devices)), kBadArgument);
  }
  if (command.mode == Mode::query) {
    if (auto read = read_query(*given, command); !read) return std::unexpected(read.error());
  }
  return command;
}

}  // namespace gpulse::cli
