// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <sstream>

#include "base/clock.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "control/setting_words.hpp"
#include "source/registry.hpp"
#include "tui/settings.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

// A length of time: "500ms", "2s", "1.5", "3m".
CLI::Option *add_duration(CLI::App &app, const std::string &name, std::chrono::nanoseconds &target,
                          const std::string &help, std::chrono::nanoseconds least) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name, least](const std::string &text) {
            std::chrono::nanoseconds value{};
            if (!parse_duration(text, value)) throw CLI::ValidationError(name, "\"" + text + "\" is no length of time");
            if (value < least) throw CLI::ValidationError(name, "\"" + text + "\" is too short");
            target = value;
          },
          help)
      ->type_name("TIME");
}

CLI::Option *add_duration(CLI::App &app, const std::string &name, std::optional<std::chrono::nanoseconds> &target,
                          const std::string &help) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name](const std::string &text) {
            std::chrono::nanoseconds value{};
            if (!parse_duration(text, value)) throw CLI::ValidationError(name, "\"" + text + "\" is no length of time");
            target = value;
          },
          help)
      ->type_name("TIME");
}

void add_machine(CLI::App &app, Options &options) {
  std::string names = "auto";
  for (const auto &factory : source_factories()) names += ", " + std::string(factory.name);
  app.add_option("--source", options.source, "what to read: " + names)
      ->type_name("NAME")
      ->check([names](const std::string &name) {
        const auto all = source_factories();
        const bool known = name == "auto" || std::any_of(all.begin(), all.end(), [&](const SourceFactory &factory) {
                             return factory.name == name;
                           });
        return known ? std::string() : "\"" + name + "\" is not one of " + names;
      });
  app.add_option("--sysroot", options.sysroot, "read /sys and /proc below this folder")->type_name("DIR");
  app.add_flag("--wake", options.wake, "read also GPUs that are asleep, which wakes them");
}

void add_everywhere(CLI::App &app, Options &options) {
  add_machine(app, options);
  auto *replay = app.add_option("--replay", options.replay, "play a recording or trace instead")->type_name("FILE");
  app.add_flag("--demo", options.demo, "play the recording shipped with gpulse")->excludes(replay);
  app.add_option("--speed", options.speed, "play so much faster")->type_name("X")->check(CLI::PositiveNumber);
  add_duration(app, "--at", options.at, "where in the recording, from its start");
  add_duration(app, "--interval", options.interval, "time between samples (1s)", 10ms);
  auto *colour = app.add_flag("--color", options.colour, "colours even when not on a terminal");
  app.add_flag("--no-color", options.no_colour, "no colours (also: NO_COLOR)")->excludes(colour);
  app.add_flag("--ascii", options.ascii, "plain ASCII");
}

void add_devices(CLI::App &app, Options &options) {
  app.add_option("-i,--id", options.devices, "only these devices: index, UUID or its start, PCI address, vendor")
      ->type_name("WHICH")
      ->allow_extra_args(false);
}

void add_status(CLI::App &app, Options &options) {
  add_devices(app, options);
  auto *json = app.add_flag("--json", options.json, "JSON");
  auto *csv = app.add_flag("--csv", options.csv, "comma-separated values, a line per device")->excludes(json);
  app.add_option("--fields", options.fields, "columns of --csv, by name")
      ->delimiter(',')
      ->needs(csv)
      ->type_name("LIST");
  app.add_flag("--fast", options.fast, "read once: no rates, no true activity");
  add_duration(app, "--sample", options.window, "time between the two readings that rates need (100ms)", 100ms);
  app.add_option_function<std::string>(
         "--watch",
         [&options](const std::string &text) {
           options.watch = true;
           if (text.empty()) return;
           std::chrono::nanoseconds value{};
           if (!parse_duration(text, value) || value < 10ms) {
             throw CLI::ValidationError("--watch", "\"" + text + "\" is no length of time");
           }
           options.interval = value;
         },
         "again and again, every SEC (1s)")
      ->type_name("[SEC]")
      ->expected(0, 1)
      ->default_str("");
  app.add_option("--count", options.count, "stop after so many")->type_name("N")->check(CLI::PositiveNumber);
  app.add_option("--width", options.width, "columns to use")->type_name("N")->check(CLI::Range(1, 10000));
}

// One of a few words, which the help lists: "auto, full or compact".
CLI::Option *add_choice(CLI::App &app, const std::string &name, std::string &target,
                        std::span<const std::string_view> words, const std::string &help) {
  const auto list = fmt::format("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
  return app.add_option(name, target, help + list)
      ->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
}

void add_top(CLI::App &app, Options &options) {
  add_devices(app, options);
  app.add_option("--filter", options.filter, "only these processes: user:ann gpu:0 type:c cpu>50 REGEX")
      ->type_name("QUERY");
  app.add_option("--sort", options.sort, "sort processes by this column; -NAME: descending, +NAME: ascending")
      ->type_name("COLUMN");
  add_choice(app, "--theme", options.theme, tui::kWords<tui::ThemeName>, "")->type_name("NAME");
  add_choice(app, "--rows", options.rows, tui::kWords<tui::DeviceRows>, "lines per GPU: ")->type_name("HOW");
  app.add_flag("--readonly", options.readonly, "no signals, no renice");
  app.add_flag("--no-mouse", options.no_mouse, "leave the mouse to the terminal");
  app.add_flag("--no-plots", options.no_plots, "without the plots");
  app.add_flag("--no-processes", options.no_processes, "without the processes");
  app.add_option("--settings", options.settings_file,
                 "where the look is remembered (gpulse/top.toml beside the config)")
      ->type_name("FILE");
}

void add_record(CLI::App &app, Options &options) {
  app.add_option("-o,--output", options.output, "the file to write")->required()->type_name("FILE");
  app.add_flag("--append", options.append, "go on with a recording that is there");
  app.add_flag("--force", options.force, "overwrite a file that is no recording");
  add_duration(app, "--duration", options.duration, "stop after this time");
  app.add_option("--count", options.count, "stop after so many samples")->type_name("N")->check(CLI::PositiveNumber);
}

void add_explain(CLI::App &app, Options &options) {
  app.add_option("topic", options.topic, "a metric by any of its names, or: xid N")->type_name("METRIC|xid N");
  app.add_flag("--all", options.all, "every metric, a line each");
  app.add_flag("--json", options.json, "the whole table as JSON");
  app.add_flag("--markdown", options.markdown, "the reference page");
  app.add_flag("--schema", options.schema, "the JSON Schema of gpulse --json");
  app.add_flag("--no-color", options.no_colour, "no colours");
  app.add_flag("--ascii", options.ascii, "plain ASCII");
}

void add_set(CLI::App &app, Options &options) {
  app.add_option("setting", options.setting, "what to set, and to what")->type_name("WHAT VALUE");
  add_devices(app, options);
  // Not to be had once and for all from a file.
  app.add_flag("-y,--yes", options.yes, "do not ask")->configurable(false);
  add_machine(app, options);
  app.add_flag("--ascii", options.ascii, "plain ASCII");
  app.footer(control::settings_help());
}

// CLI11 lists an option's relations behind its name; the errors say them when they matter.
class Help : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option *option) const override {
    // Behind a colon stands what CLI11 makes of a check.
    const auto name = option->get_type_name();
    return option->get_type_size() == 0 || name.empty() ? "" : " " + name.substr(0, name.find(':'));
  }
};

std::string default_config() {
  const auto folder = config_folder();
  return folder.empty() ? folder : folder + "/config.toml";
}

// CLI11 speaks in paragraphs; ours is one line.
std::string one_line(std::string text) {
  const auto end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  return text;
}

struct Command {
  const char *name;
  const char *help;
  void (*add_options)(CLI::App &, Options &);
  int (*run)(const Options &);
};

constexpr std::array kCommands{
    Command{"status", "one look at GPUs, processes and host (also without the word)",
            [](CLI::App &app, Options &options) {
              add_everywhere(app, options);
              add_status(app, options);
            },
            run_status},
    Command{"top", "the live view: GPUs, plots, processes, host; ? shows the keys",
            [](CLI::App &app, Options &options) {
              add_everywhere(app, options);
              add_top(app, options);
            },
            run_top},
    Command{"record", "record everything into a file, for --replay",
            [](CLI::App &app, Options &options) {
              add_everywhere(app, options);
              add_record(app, options);
            },
            run_record},
    Command{"doctor", "why is my GPU not seen, which readings are missing, what gpulse costs", add_everywhere,
            run_doctor},
    Command{"explain", "what a metric or a driver error means", add_explain, run_explain},
    Command{"set", "change a setting: power limit, clocks, modes; or reset a GPU", add_set, run_set},
};

// Commands that stand in for another program: they speak its command line, also when they are called by its name.
struct DropIn {
  std::string_view program;
  const char *word;
  const char *help;
  int (*run)(std::span<char *> arguments);
};

constexpr std::array kDropIns{
    DropIn{"nvidia-smi", "smi", "nvidia-smi's own options and formats (also when called nvidia-smi)", run_smi},
    DropIn{"gpustat", "gpustat", "a line per GPU, with gpustat's own options (also when called gpustat)", run_gpustat},
};

constexpr const char *kFooter =
    "Examples:\n"
    "  gpulse                                     what the GPUs do now\n"
    "  gpulse --watch 2                           every two seconds\n"
    "  gpulse top                                 the live view, with plots and keys\n"
    "  gpulse --json -i 0                         the first GPU, for a script\n"
    "  gpulse --csv --fields time,index,power.draw --watch > power.csv\n"
    "  gpulse record -o night.gpr                 then: gpulse --replay night.gpr --watch\n"
    "  gpulse explain sm_active_percent           what a number means\n"
    "\n"
    "Exit: 0 good, 1 failure, 2 wrong usage, 3 no GPU found.";

// None: no drop-in is meant.
std::optional<int> run_drop_in(std::span<char *> arguments) {
  if (arguments.empty()) return std::nullopt;
  const std::string_view path = arguments[0];
  for (const auto &[program, word, help, run] : kDropIns) {
    if (path.substr(path.rfind('/') + 1) == program) return run(arguments.subspan(1));
    if (arguments.size() > 1 && arguments[1] == std::string_view(word)) return run(arguments.subspan(2));
  }
  return std::nullopt;
}

int parse_and_run(std::span<char *> arguments) {
  if (const auto code = run_drop_in(arguments)) return *code;
  Options options;
  // Never taken apart: that would only delay the end.
  auto &app = *new CLI::App("What your GPUs are really doing.", "gpulse");
  app.set_version_flag("--version", "gpulse " GPULSE_VERSION);
  app.set_config("--config", default_config(), "defaults in TOML")->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.formatter(std::make_shared<Help>());
  app.require_subcommand(0, 1);
  add_everywhere(app, options);
  add_status(app, options);
  std::array<CLI::App *, kCommands.size()> commands{};
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    commands[i] = app.add_subcommand(kCommands[i].name, kCommands[i].help);
    // An option takes microseconds to describe; those of a command that is not meant are not needed.
    const auto meant = [&](const char *argument) { return std::string_view(argument) == kCommands[i].name; };
    if (std::any_of(arguments.begin(), arguments.end(), meant)) kCommands[i].add_options(*commands[i], options);
  }
  std::array<CLI::App *, kDropIns.size()> drop_ins{};
  for (std::size_t i = 0; i < kDropIns.size(); ++i) {
    drop_ins[i] = app.add_subcommand(kDropIns[i].word, kDropIns[i].help)->prefix_command();
  }
  app.footer(kFooter);
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success &asked) {  // --help, --version
    std::ostringstream text;
    app.exit(asked, text, text);
    if (auto written = write_out(text.str()); !written) return fail(written.error());
    return kGood;
  } catch (const CLI::ParseError &error) {
    complain(one_line(error.what()) + ": see gpulse --help");
    return kUsage;
  }
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    if (commands[i]->parsed()) return kCommands[i].run(options);
  }
  for (std::size_t i = 0; i < kDropIns.size(); ++i) {
    if (!drop_ins[i]->parsed()) continue;
    complain(fmt::format("{0} must come first: gpulse {0} …", kDropIns[i].word));
    return kUsage;
  }
  return run_status(options);
}

}  // namespace

}  // namespace gpulse::cli

int main(int argc, char **argv) {
  int code = gpulse::cli::kFailure;
  try {
    code = gpulse::cli::parse_and_run({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception &error) {
    gpulse::cli::complain(error.what());
  }
  std::fflush(nullptr);
  // A thread may be stuck inside a driver: it must not keep the program from ending.
  ::_exit(code);
}
