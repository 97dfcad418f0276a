// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

#include "base/clock.hpp"

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

std::chrono::nanoseconds parse_time(const std::string &name, const std::string &text) {
  std::chrono::nanoseconds value{};
  if (!parse_duration(text, value)) throw CLI::ValidationError(name, "\"" + text + "\" is no length of time");
  return value;
}

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
OptionHandle &OptionHandle::positive() { return option_->check(CLI::PositiveNumber), *this; }
OptionHandle &OptionHandle::between(int least, int most) { return option_->check(CLI::Range(least, most)), *this; }
OptionHandle &OptionHandle::one_of(const std::vector<std::string> &values) {
  return option_->check(CLI::IsMember(values)), *this;
}
OptionHandle &OptionHandle::check(std::function<std::string(const std::string &)> complaint) {
  return option_->check(std::move(complaint)), *this;
}

OptionHandle OptionList::flag(const std::string &name, bool &target, const std::string &help) {
  return OptionHandle(app_->add_flag(name, target, help));
}

OptionHandle OptionList::text(const std::string &name, std::string &target, const std::string &help) {
  return OptionHandle(app_->add_option(name, target, help));
}

OptionHandle OptionList::number(const std::string &name, double &target, const std::string &help) {
  return OptionHandle(app_->add_option(name, target, help));
}

OptionHandle OptionList::number(const std::string &name, int &target, const std::string &help) {
  return OptionHandle(app_->add_option(name, target, help));
}

OptionHandle OptionList::number(const std::string &name, std::optional<std::uint64_t> &target,
                                const std::string &help) {
  return OptionHandle(app_->add_option(name, target, help));
}

OptionHandle OptionList::each_time(const std::string &name, std::vector<std::string> &target, const std::string &help) {
  return OptionHandle(app_->add_option(name, target, help)->allow_extra_args(false));
}

OptionHandle OptionList::comma_list(const std::string &name, std::vector<std::string> &target,
                                    const std::string &help) {
  return OptionHandle(app_->add_option(name, target, help)->delimiter(','));
}

OptionHandle OptionList::positional(const std::string &name, std::vector<std::string> &target,
                                    const std::string &help) {
  return OptionHandle(app_->add_option(name, target, help));
}

OptionHandle OptionList::duration(const std::string &name, std::chrono::nanoseconds &target, const std::string &help,
                                  std::chrono::nanoseconds least) {
  const auto take = [&target, name, least](const std::string &text) {
    const auto value = parse_time(name, text);
    if (value < least) throw CLI::ValidationError(name, "\"" + text + "\" is too short");
    target = value;
  };
  return OptionHandle(app_->add_option_function<std::string>(name, take, help)->type_name("TIME"));
}

OptionHandle OptionList::duration(const std::string &name, std::optional<std::chrono::nanoseconds> &target,
                                  const std::string &help) {
  const auto take = [&target, name](const std::string &text) { target = parse_time(name, text); };
  return OptionHandle(app_->add_option_function<std::string>(name, take, help)->type_name("TIME"));
}

OptionHandle OptionList::maybe_duration(const std::string &name, bool &given, std::chrono::nanoseconds &target,
                                        const std::string &help, std::chrono::nanoseconds least) {
  const auto take = [&given, &target, name, least](const std::string &text) {
    given = true;
    if (text.empty()) return;
    const auto value = parse_time(name, text);
    if (value < least) throw CLI::ValidationError(name, "\"" + text + "\" is no length of time");
    target = value;
  };
  return OptionHandle(app_->add_option_function<std::string>(name, take, help)->expected(0, 1)->default_str(""));
}

void OptionList::footer(const std::string &text) { app_->footer(text); }

CommandLine::CommandLine(const std::string &description, const std::string &version, const std::string &config_file)
    : app_(std::make_unique<CLI::App>(description, "gpulse")) {
  app_->set_version_flag("--version", version);
  app_->set_config("--config", config_file, "defaults in TOML")->type_name("FILE");
  app_->allow_config_extras(CLI::config_extras_mode::error);
  app_->formatter(std::make_shared<Help>());
  app_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

OptionList CommandLine::options() { return OptionList(*app_); }

OptionList CommandLine::add_command(const std::string &name, const std::string &help) {
  return OptionList(*app_->add_subcommand(name, help));
}

void CommandLine::add_other(const std::string &name, const std::string &help) {
  app_->add_subcommand(name, help)->prefix_command();
}

CommandLine::Outcome CommandLine::parse(std::span<char *> arguments) {
  try {
    app_->parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success &asked) {  // --help, --version
    std::ostringstream text;
    app_->exit(asked, text, text);
    return {.text = text.str()};
  } catch (const CLI::ParseError &error) {
    return {.mistake = one_line(error.what())};
  }
  const auto given = app_->get_subcommands();
  return {.command = given.empty() ? "" : given.front()->get_name()};
}

}  // namespace gpulse::cli
