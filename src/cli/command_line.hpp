// SPDX-License-Identifier: Apache-2.0
// Options and subcommands as main.cpp declares them. CLI11 parses them; only command_line.cpp includes it, because it
// takes seconds to compile.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/description.hpp"
#include "cli/sections.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class Option;
}  // namespace CLI

namespace gpulse::cli {

// One option, to say more about it.
class OptionHandle {
 public:
  explicit OptionHandle(CLI::Option *option) : option_(option) {}

  OptionHandle &value_name(const std::string &name);  // as the help calls its value
  OptionHandle &required();
  OptionHandle &command_line_only();  // not to be had once and for all from a file
  OptionHandle &excludes(const OptionHandle &other);
  OptionHandle &needs(const OptionHandle &other);
  OptionHandle &one_of(const std::vector<std::string> &values);
  // What shells offer as its value, without its being all there is.
  OptionHandle &offers(const std::vector<std::string> &values);
  // An empty answer is a good one.
  OptionHandle &check(std::function<std::string(const std::string &)> complaint);

 private:
  CLI::Option *option_;
};

// The options of the program, or of a subcommand. No value may be empty, on the command line or in the file. `name` is
// as CLI11 writes it: "-o,--output", or "topic" for one that stands by its place.
class OptionList {
 public:
  explicit OptionList(CLI::App &app) : app_(&app) {}

  OptionHandle flag(const std::string &name, bool &target, const std::string &help);
  OptionHandle text(const std::string &name, std::string &target, const std::string &help);
  // With these limits, which its errors name as they are written here.
  struct Limits {
    std::string_view least, most;
  };
  OptionHandle number(const std::string &name, double &target, const std::string &help, Limits limits);
  OptionHandle number(const std::string &name, int &target, const std::string &help, Limits limits);
  OptionHandle number(const std::string &name, std::size_t &target, const std::string &help, Limits limits);
  OptionHandle number(const std::string &name, std::optional<double> &target, const std::string &help, Limits limits);
  OptionHandle number(const std::string &name, std::optional<std::uint64_t> &target, const std::string &help,
                      Limits limits);
  OptionHandle number(const std::string &name, std::optional<std::uint32_t> &target, const std::string &help,
                      Limits limits);
  // May be given several times.
  OptionHandle each_time(const std::string &name, std::vector<std::string> &target, const std::string &help);
  OptionHandle comma_list(const std::string &name, std::vector<std::string> &target, const std::string &help);
  OptionHandle positional(const std::string &name, std::vector<std::string> &target, const std::string &help);
  // A length of time: "500ms", "2s", "1.5", "3m".
  OptionHandle duration(const std::string &name, std::chrono::nanoseconds &target, const std::string &help,
                        std::chrono::milliseconds least);
  OptionHandle duration(const std::string &name, std::optional<std::chrono::nanoseconds> &target,
                        const std::string &help, std::chrono::milliseconds least = {});
  // A number of bytes: "500MB", "1GiB".
  OptionHandle size(const std::string &name, std::uint64_t &target, const std::string &help, std::uint64_t least);
  // With or without a text behind it.
  OptionHandle maybe_text(const std::string &name, bool &given, std::string &target, const std::string &help);
  // With or without a length of time behind it.
  OptionHandle maybe_duration(const std::string &name, bool &given, std::chrono::nanoseconds &target,
                              const std::string &help, std::chrono::milliseconds least);
  void footer(const std::string &text);

 private:
  CLI::App *app_;
};

class CommandLine {
 public:
  CommandLine(const std::string &description, const std::string &version, const std::string &config_file);
  CommandLine(const CommandLine &) = delete;
  CommandLine &operator=(const CommandLine &) = delete;
  ~CommandLine();

  OptionList options();
  OptionList add_command(const std::string &name, const std::string &help);
  // One that takes whatever follows.
  void add_other(const std::string &name, const std::string &help);

  struct Outcome {
    std::string text = {};     // of --help or --version, to be printed
    std::string mistake = {};  // in one line
    std::string remedy = {};   // what to do about it, where there is more to say than that there is a help
    std::string command = {};  // the subcommand that was given, if any
    Sections sections = {};    // of the configuration
  };
  Outcome parse(std::span<char *> arguments);

  // As far as it has been declared until now.
  ProgramWords describe() const;

 private:
  Outcome explain_unknown() const;

  std::unique_ptr<CLI::App> app_;
  std::shared_ptr<Sections> sections_;
};

}  // namespace gpulse::cli
