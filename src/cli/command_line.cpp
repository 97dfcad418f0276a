// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/nearest.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "metric/format.hpp"
#include "pick/choose.hpp"

namespace gpulse::cli {

namespace {

// CLI11 lists an option's relations behind its name; the errors say them when they matter.
class Help : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option *option) const override {
    // Behind a colon stands what CLI11 makes of a check.
    const auto name = option->get_type_name();
    return option->get_type_size() == 0 || name.empty() ? "" : " " + name.substr(0, name.find(':'));
  }
};

std::chrono::nanoseconds parse_time(const std::string &name, const std::string &text, std::chrono::milliseconds least) {
  std::chrono::nanoseconds value{};
  if (parse_duration(text, value) && value >= least) return value;
  throw CLI::ValidationError(name, fmt::format("\"{}\" is not a length of time from {} to 1000000000s", text,
                                               least.count() == 0 ? "0s" : fmt::format("{}ms", least.count())));
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if constexpr (std::is_floating_point_v<Number>) {
    return parse_double(text);
  } else {
    return parse_integer<Number>(text);
  }
}

template <class Number>
Number parse_within(const std::string &name, const std::string &text, OptionList::Limits limits) {
  const auto value = parse_number<Number>(text);
  if (value && *value >= *parse_number<Number>(limits.least) && *value <= *parse_number<Number>(limits.most)) {
    return *value;
  }
  throw CLI::ValidationError(name,
                             fmt::format("\"{}\" is not a {}number from {} to {}", text,
                                         std::is_floating_point_v<Number> ? "" : "whole ", limits.least, limits.most));
}

std::string complain_of_empty(const std::string &value) { return value.empty() ? "its value is empty" : ""; }

// CLI11 keeps a check's description behind the name of the value, where words_behind() finds it again.
std::string braced(const std::vector<std::string> &words) { return fmt::format("{{{}}}", fmt::join(words, ",")); }

std::vector<std::string> words_behind(const std::string &type_name) {
  const auto begin = type_name.find(":{");
  const auto end = type_name.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> words;
  for (const auto word : split(std::string_view(type_name).substr(begin + 2, end - begin - 2), ',')) {
    words.emplace_back(word);
  }
  return words;
}

OptionWords words_of(const CLI::Option &option) {
  const auto type = option.get_type_name();
  OptionWords words{.help = option.get_description()};
  for (const auto &name : option.get_snames()) words.names.push_back("-" + name);
  for (const auto &name : option.get_lnames()) words.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0 && option.get_type_size() > 0) words.value = type.substr(0, type.find(':'));
  words.value_may_be_missing = option.get_items_expected_min() == 0;
  words.choices = words_behind(type);
  return words;
}

CommandWords words_of(const CLI::App &app) {
  CommandWords words{.help = app.get_description(), .footer = app.get_footer()};
  words.takes_anything = app.get_prefix_command();
  if (words.takes_anything) return words;
  for (const auto *option : app.get_options()) words.options.push_back(words_of(*option));
  return words;
}

// Every option that takes a value is made by this.
OptionHandle with_value(CLI::Option *option) { return OptionHandle(option->check(complain_of_empty)); }

// CLI11 would read a device without end.
std::string complain_of_config(const std::string &path) {
  std::error_code unused;
  if (!std::filesystem::exists(path, unused)) return {};  // CLI11 knows whether it must be there
  const auto text = read_small_file(path);
  return text ? std::string() : text.error().line();
}

// "--json", "--replay=x", "-i": what cannot be meant as the value of another option. "-", "-5" and "-cpu" can.
bool names_an_option(const CLI::App &app, const std::string &argument) {
  if (argument == "--") return true;
  const bool is_long = argument.starts_with("--");
  const bool is_short = argument.size() == 2 && argument.front() == '-';
  return (is_long || is_short) && app.get_option_no_throw(argument.substr(0, argument.find('='))) != nullptr;
}

// CLI11 takes what stands behind an option as its value, whatever it is, and behind "--replay=" too.
std::string find_missing_value(const CLI::App &root, std::span<char *> arguments) {
  const auto *app = &root;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    for (const auto *command : root.get_subcommands({})) {
      if (app == &root && command->get_name() == argument) app = command;
    }
    if (app->get_prefix_command()) return {};  // not our words
    const auto equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    const auto name = argument.substr(0, equals);
    const auto *option = argument.starts_with('-') ? app->get_option_no_throw(name) : nullptr;
    if (option == nullptr) continue;
    if (equals != std::string::npos) {
      if (equals + 1 == argument.size()) return name + ": its value is empty";
      continue;
    }
    if (option->get_items_expected_max() == 0 || i + 1 == arguments.size()) continue;
    const std::string next = arguments[i + 1];
    if (next.empty()) return name + ": its value is empty";
    if (option->get_items_expected_min() == 0) continue;
    if (names_an_option(*app, next)) return fmt::format("{} needs a value: {} is another option", name, next);
    ++i;
  }
  return {};
}

// "[web.users]" is of web, "[[alerts.receiver]]" of alerts; empty: it is none of the sections that are no options.
std::string_view section_of(std::string_view header) {
  while (header.starts_with('[') && header.ends_with(']') && header.size() > 1)
    header = header.substr(1, header.size() - 2);
  header = trim(header);
  for (const auto name : kSections) {
    if (header == name || (header.starts_with(name) && header.substr(name.size()).starts_with('.'))) return name;
  }
  return {};
}

// What is left of either text stays on its lines, which mistakes in it are told by.
class Config : public CLI::ConfigTOML {
 public:
  explicit Config(std::shared_ptr<Sections> sections) : sections_(std::move(sections)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream &in) const override {
    sections_->clear();
    std::string rest;
    std::string_view section;
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line); ++lines) {
      const auto text = trim(std::string_view(line).substr(0, line.find('#')));
      if (text.starts_with('[') && text.ends_with(']')) section = section_of(text);
      if (section.empty()) {
        rest += line;
      } else {
        auto &own = (*sections_)[std::string(section)];
        const auto above = static_cast<std::size_t>(std::ranges::count(own, '\n'));
        own.append(lines - above, '\n').append(line) += '\n';
      }
      rest += '\n';
    }
    std::istringstream own(rest);
    return CLI::ConfigTOML::from_config(own);
  }

 private:
  std::shared_ptr<Sections> sections_;
};

// CLI11 speaks in paragraphs; ours is one line.
std::string one_line(std::string text) {
  const auto end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  return text;
}

}  // namespace

OptionHandle &OptionHandle::value_name(const std::string &name) { return option_->type_name(name), *this; }
OptionHandle &OptionHandle::required() { return option_->required(), *this; }
OptionHandle &OptionHandle::command_line_only() { return option_->configurable(false), *this; }
OptionHandle &OptionHandle::excludes(const OptionHandle &other) { return option_->excludes(other.option_), *this; }
OptionHandle &OptionHandle::needs(const OptionHandle &other) { return option_->needs(other.option_), *this; }
OptionHandle &OptionHandle::one_of(const std::vector<std::string> &values) {
  const auto complaint = [values](const std::string &value) {
    const std::vector<std::string_view> names(values.begin(), values.end());
    if (std::ranges::find(names, value) != names.end()) return std::string();
    return Error{fmt::format("\"{}\" is not one of {}", value, fmt::join(names, ", ")), did_you_mean(value, names, "")}
        .line();
  };
  return option_->check(complaint, braced(values)), *this;
}
OptionHandle &OptionHandle::offers(const std::vector<std::string> &values) {
  return option_->check([](const std::string &) { return std::string(); }, braced(values)), *this;
}
OptionHandle &OptionHandle::check(std::function<std::string(const std::string &)> complaint) {
  return option_->check(std::move(complaint)), *this;
}

OptionHandle OptionList::flag(const std::string &name, bool &target, const std::string &help) {
  return OptionHandle(app_->add_flag(name, target, help));
}

OptionHandle OptionList::text(const std::string &name, std::string &target, const std::string &help) {
  return with_value(app_->add_option(name, target, help));
}

namespace {

// `target` may be an optional one.
template <class Number, class Target>
CLI::Option *add_number(CLI::App &app, const std::string &name, Target &target, const std::string &help,
                        OptionList::Limits limits) {
  const auto take = [&target, name, limits](const std::string &text) {
    target = parse_within<Number>(name, text, limits);
  };
  return app.add_option_function<std::string>(name, take, help);
}

}  // namespace

OptionHandle OptionList::number(const std::string &name, double &target, const std::string &help, Limits limits) {
  return with_value(add_number<double>(*app_, name, target, help, limits));
}

OptionHandle OptionList::number(const std::string &name, int &target, const std::string &help, Limits limits) {
  return with_value(add_number<int>(*app_, name, target, help, limits));
}

OptionHandle OptionList::number(const std::string &name, std::size_t &target, const std::string &help, Limits limits) {
  return with_value(add_number<std::size_t>(*app_, name, target, help, limits));
}

OptionHandle OptionList::number(const std::string &name, std::optional<double> &target, const std::string &help,
                                Limits limits) {
  return with_value(add_number<double>(*app_, name, target, help, limits));
}

OptionHandle OptionList::number(const std::string &name, std::optional<std::uint64_t> &target, const std::string &help,
                                Limits limits) {
  return with_value(add_number<std::uint64_t>(*app_, name, target, help, limits));
}

OptionHandle OptionList::number(const std::string &name, std::optional<std::uint32_t> &target, const std::string &help,
                                Limits limits) {
  const auto take = [&target, name, limits](const std::string &text) {
    target = parse_within<std::uint32_t>(name, text, limits);
  };
  return with_value(app_->add_option_function<std::string>(name, take, help));
}

OptionHandle OptionList::each_time(const std::string &name, std::vector<std::string> &target, const std::string &help) {
  return with_value(app_->add_option(name, target, help)->allow_extra_args(false));
}

OptionHandle OptionList::comma_list(const std::string &name, std::vector<std::string> &target,
                                    const std::string &help) {
  const auto take = [&target, name](const std::vector<std::string> &texts) {
    for (const auto &text : texts) {
      for (const auto piece : split(text, ',')) {
        if (trim(piece).empty()) throw CLI::ValidationError(name, fmt::format("\"{}\" has an empty name in it", text));
        target.emplace_back(trim(piece));
      }
    }
  };
  return with_value(app_->add_option_function<std::vector<std::string>>(name, take, help));
}

OptionHandle OptionList::positional(const std::string &name, std::vector<std::string> &target,
                                    const std::string &help) {
  return with_value(app_->add_option(name, target, help));
}

OptionHandle OptionList::duration(const std::string &name, std::chrono::nanoseconds &target, const std::string &help,
                                  std::chrono::milliseconds least) {
  const auto take = [&target, name, least](const std::string &text) { target = parse_time(name, text, least); };
  return with_value(app_->add_option_function<std::string>(name, take, help)->type_name("TIME"));
}

OptionHandle OptionList::duration(const std::string &name, std::optional<std::chrono::nanoseconds> &target,
                                  const std::string &help, std::chrono::milliseconds least) {
  const auto take = [&target, name, least](const std::string &text) { target = parse_time(name, text, least); };
  return with_value(app_->add_option_function<std::string>(name, take, help)->type_name("TIME"));
}

OptionHandle OptionList::size(const std::string &name, std::uint64_t &target, const std::string &help,
                              std::uint64_t least) {
  const auto take = [&target, name, least](const std::string &text) {
    const auto size = pick::parse_size(text);
    if (!size || !size->bytes || *size->bytes > 0x1p60) {
      throw CLI::ValidationError(name, "\"" + text + "\" is not a size: 500MB, 1GiB");
    }
    if (*size->bytes < static_cast<double>(least)) {
      throw CLI::ValidationError(name, text + " is too little: at least " + format_bytes(static_cast<double>(least)));
    }
    target = static_cast<std::uint64_t>(*size->bytes);
  };
  return with_value(app_->add_option_function<std::string>(name, take, help)->type_name("SIZE"));
}

OptionHandle OptionList::maybe_text(const std::string &name, bool &given, std::string &target,
                                    const std::string &help) {
  const auto take = [&given, &target](const std::string &text) {
    given = true;
    target = text;
  };
  return OptionHandle(app_->add_option_function<std::string>(name, take, help)->expected(0, 1)->default_str(""));
}

OptionHandle OptionList::maybe_duration(const std::string &name, bool &given, std::chrono::nanoseconds &target,
                                        const std::string &help, std::chrono::milliseconds least) {
  const auto take = [&given, &target, name, least](const std::string &text) {
    given = true;
    if (!text.empty()) target = parse_time(name, text, least);
  };
  return OptionHandle(app_->add_option_function<std::string>(name, take, help)->expected(0, 1)->default_str(""));
}

void OptionList::footer(const std::string &text) { app_->footer(text); }

CommandLine::CommandLine(const std::string &description, const std::string &version, const std::string &config_file)
    : app_(std::make_unique<CLI::App>(description, "gpulse")), sections_(std::make_shared<Sections>()) {
  app_->config_formatter(std::make_shared<Config>(sections_));
  app_->set_version_flag("-V,--version", version);
  app_->set_config("--config", config_file, "defaults in TOML")
      ->type_name("FILE")
      ->check(complain_of_empty)
      ->check(complain_of_config);
  app_->allow_config_extras(CLI::config_extras_mode::error);
  app_->formatter(std::make_shared<Help>());
  app_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

OptionList CommandLine::options() { return OptionList(*app_); }

OptionList CommandLine::add_command(const std::string &name, const std::string &help) {
  auto *command = app_->add_subcommand(name, help);
  command->footer("");  // else it has the program's
  return OptionList(*command);
}

void CommandLine::add_other(const std::string &name, const std::string &help) {
  app_->add_subcommand(name, help)->prefix_command();
}

CommandLine::Outcome CommandLine::parse(std::span<char *> arguments) {
  if (auto mistake = find_missing_value(*app_, arguments); !mistake.empty()) return {.mistake = std::move(mistake)};
  try {
    app_->parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success &asked) {  // --help, --version
    std::ostringstream text;
    app_->exit(asked, text, text);
    return {.text = text.str()};
  } catch (const CLI::ExtrasError &) {
    return explain_unknown();
  } catch (const CLI::ConfigError &error) {
    constexpr std::string_view kUnknown = "INI was not able to parse ";
    const std::string_view text = error.what();
    if (!text.starts_with(kUnknown)) return {.mistake = one_line(error.what())};
    return {.mistake = fmt::format("there is nothing called {} to configure", text.substr(kUnknown.size()))};
  } catch (const CLI::ParseError &error) {
    return {.mistake = one_line(error.what())};
  }
  const auto given = app_->get_subcommands();
  return {.command = given.empty() ? "" : given.front()->get_name(), .sections = *sections_};
}

CommandLine::Outcome CommandLine::explain_unknown() const {
  const auto given = app_->get_subcommands();
  const auto *app = given.empty() ? app_.get() : given.front();
  const auto left = app_->remaining(true);
  if (left.empty()) return {.mistake = "there is something too many"};
  const auto &unknown = left.front();
  const bool is_option = unknown.starts_with('-');
  std::vector<std::string> known;
  if (is_option) {
    for (auto &option : words_of(*app).options) known.insert(known.end(), option.names.begin(), option.names.end());
  } else if (given.empty()) {
    for (const auto *command : app_->get_subcommands({})) known.push_back(command->get_name());
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto name = unknown.substr(0, unknown.find('='));
  const auto help = fmt::format("see gpulse {}--help", given.empty() ? "" : app->get_name() + " ");
  const auto *const what = is_option ? "option" : given.empty() ? "command" : "argument";
  const auto of = given.empty() ? "" : " of gpulse " + app->get_name();
  return {.mistake = fmt::format("{} is no {}{}", name, what, of), .remedy = did_you_mean(name, names, help)};
}

ProgramWords CommandLine::describe() const {
  ProgramWords program{words_of(*app_)};
  for (const auto *command : app_->get_subcommands({})) {
    program.push_back(words_of(*command));
    program.back().name = command->get_name();
  }
  return program;
}

}  // namespace gpulse::cli
