// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "cli/smi_arguments.hpp"
#include "pick/cuda_order.hpp"

namespace gpulse::cli {

namespace {

constexpr const char *kFooter =
    "Examples:\n"
    "  gpulse                                     what the GPUs do now\n"
    "  gpulse --watch 2                           every two seconds\n"
    "  gpulse top                                 the live view, with plots and keys\n"
    "  gpulse top --since 12h                     the same, back through what the agent has kept\n"
    "  gpulse --json -i 0                         the first GPU, for a script\n"
    "  gpulse --csv --fields time,index,power.draw --watch > power.csv\n"
    "  gpulse record -o night.gpr                 then: gpulse --replay night.gpr --watch\n"
    "  gpulse log --format tensorboard -o runs -- python train.py\n"
    "  gpulse serve                               the agent: reads once for all of the above\n"
    "  gpulse history --since 12h                 what was, as the agent kept it\n"
    "  gpulse diagnose                            why they are not busy, and what to try\n"
    "  gpulse pick -n 2 -- python train.py        on two GPUs that are free\n"
    "  gpulse run --html report.html -- python train.py   what the job did with them\n"
    "  gpulse explain sm_active_percent           what a number means\n"
    "\n"
    "Exit: 0 good, 1 failure, 2 wrong usage, 3 no GPU found.";

std::string default_config() {
  const auto folder = config_folder();
  return (folder.empty() ? "/etc/gpulse" : folder) + "/config.toml";
}

// None: no drop-in is meant.
std::optional<int> run_drop_in(std::span<char *> arguments) {
  if (arguments.empty()) return std::nullopt;
  if (arguments.size() == 2 && arguments[1] == std::string_view(pick::kCudaOrderCommand)) return run_cuda_order();
  const std::string_view path = arguments[0];
  for (const auto &[program, word, help, run] : drop_ins()) {
    if (path.substr(path.rfind('/') + 1) == program) return run(arguments.subspan(1));
    if (arguments.size() > 1 && arguments[1] == std::string_view(word)) return run(arguments.subspan(2));
  }
  return std::nullopt;
}

// A program that resolves a link before it calls it takes away the name that a drop-in goes by.
constexpr const char *kOfNvidiaSmi =
    "nvidia-smi's options come after gpulse smi; to be called by its name even by programs that resolve links, gpulse "
    "needs a hard link or a copy of that name";

bool are_of_nvidia_smi(std::span<char *> arguments) {
  const std::vector<std::string_view> words(arguments.begin(), arguments.end());
  return parse_smi(words).has_value();
}

bool has_configuration(std::span<char *> arguments) {
  const auto names_one = [](const char *argument) { return std::string_view(argument).starts_with("--config"); };
  return ::access(default_config().c_str(), F_OK) == 0 || std::ranges::any_of(arguments, names_one);
}

// Takes what stands behind "--" off the arguments of a command that runs one of the user's.
std::span<char *> take_command(std::span<char *> arguments, Options &options) {
  const auto end =
      std::ranges::find(arguments, std::string_view("--"), [](const char *word) { return std::string_view(word); });
  const std::span<char *> own(arguments.begin(), end);
  const auto runs_one = [](const char *word) {
    return std::ranges::any_of(commands(),
                               [&](const Command &command) { return command.runs_commands && command.name == word; });
  };
  if (end == arguments.end() || std::ranges::none_of(own, runs_one)) return arguments;
  options.command.assign(end + 1, arguments.end());
  return own;
}

constexpr const char *kVersion = "gpulse " GPULSE_VERSION;

// With the options that stand before a command, or without one. Never taken apart: that would only delay the end.
CommandLine &make_line(Options &options) {
  auto &line = *new CommandLine("What your GPUs are really doing.", kVersion, default_config());
  auto list = line.options();
  add_status_options(list, options);
  list.footer(kFooter);
  return line;
}

ProgramWords describe_all() {
  auto &unused = *new Options;
  auto &line = make_line(unused);
  for (const auto &command : commands()) {
    auto list = line.add_command(std::string(command.name), command.help);
    command.add_options(list, unused);
  }
  for (const auto &drop_in : drop_ins()) line.add_other(drop_in.word, drop_in.help);
  return line.describe();
}

CommandLine::Outcome parse_own(std::span<char *> all, Options &options) {
  const auto arguments = take_command(all, options);
  if (arguments.size() < all.size() && (options.command.empty() || options.command.front().empty()))
    return {.mistake = "no program stands behind --"};
  auto &line = make_line(options);
  // An option takes microseconds to describe; those of a command that is not meant are needed only to check what a
  // configuration says of it.
  auto &of_others = *new Options;
  auto &of_fleet = *new Options;
  const bool configured = has_configuration(arguments);
  for (const auto &command : commands()) {
    auto own = line.add_command(std::string(command.name), command.help);
    const auto meant = [&](const char *argument) { return command.name == argument; };
    const bool is_meant = std::ranges::any_of(arguments, meant);
    auto &target = is_meant ? options : command.run == run_fleet ? of_fleet : of_others;
    if (is_meant || configured) command.add_options(own, target);
  }
  for (const auto &drop_in : drop_ins()) line.add_other(drop_in.word, drop_in.help);
  auto outcome = line.parse(arguments);
  options.sections = outcome.sections;
  options.configured_fleet = &of_fleet;
  options.words.assign(arguments.begin(), arguments.end());
  return outcome;
}

}  // namespace

int run_program(std::span<char *> arguments) {
  if (const auto code = run_drop_in(arguments)) return *code;
  Options options;
  const auto outcome = parse_own(arguments, options);
  if (!outcome.text.empty()) {
    if (auto written = write_out(outcome.text); !written) return fail(written.error());
    return kGood;
  }
  if (!outcome.mistake.empty()) {
    const auto remedy = are_of_nvidia_smi(arguments.subspan(1)) ? kOfNvidiaSmi
                        : outcome.remedy.empty()                ? "see gpulse --help"
                                                                : outcome.remedy;
    return fail({outcome.mistake, remedy}, kUsage);
  }
  options.read_again = [arguments]() -> Result<Options> {
    Options now;
    const auto again = parse_own(arguments, now);
    if (!again.mistake.empty()) return failure(again.mistake);
    return now;
  };
  for (const auto &command : commands()) {
    if (command.name == outcome.command) return command.run(options);
  }
  if (outcome.command.empty()) return run_status(options);
  complain(fmt::format("{0} must come first: gpulse {0} …", outcome.command));
  return kUsage;
}

int run_help(const Options &options) {
  const auto program = describe_all();
  if (!options.pages.empty()) return write_pages(program, options, kVersion);
  const auto command = find_command(program, options);
  if (!command) return fail(command.error(), kUsage);
  if (options.manual) return print_manual(program, **command, kVersion);
  // As if it had been asked for behind the command.
  std::vector<std::string> words{"gpulse"};
  words.insert(words.end(), options.topic.begin(), options.topic.end());
  words.emplace_back("--help");
  std::vector<char *> arguments;
  for (auto &word : words) arguments.push_back(word.data());
  return run_program(arguments);
}

int run_completion(const Options &options) { return print_completion(describe_all(), options); }

int run_version(const Options &) {
  const auto written = write_out(std::string(kVersion) + "\n");
  return written ? kGood : fail(written.error());
}

}  // namespace gpulse::cli
