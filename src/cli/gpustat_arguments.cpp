// SPDX-License-Identifier: Apache-2.0
#include "cli/gpustat_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace gpulse::cli {

namespace {

using Takes = GpustatOption::Takes;
using Value = std::optional<std::string_view>;

constexpr int kWidestName = 10'000;

constexpr std::array<std::string_view, 4> kCodecs{"", "enc", "dec", "enc,dec"};
constexpr std::array<std::string_view, 5> kPowers{"", "draw", "limit", "draw,limit", "limit,draw"};
constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "tcsh"};

// A text as Python writes it.
std::string quote(std::string_view text) {
  const char mark = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  return mark + std::string(text) + mark;
}

// Blanks around a number and a plus in front of it are no mistake.
std::string_view number_text(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return text;
}

Result<void> set_interval(GpustatCommand &command, Value value) {
  constexpr double kShortest = 0.1, kLongest = 1e6;
  if (!value) {
    command.interval_seconds = 1;
    return {};
  }
  const auto seconds = parse_double(number_text(*value));
  if (!seconds) return failure("invalid float value: " + quote(*value));
  command.interval_seconds = *seconds > 0 ? std::clamp(*seconds, kShortest, kLongest) : 0;
  return {};
}

Result<void> set_name_width(GpustatCommand &command, Value value) {
  const auto width = parse_integer<std::int64_t>(number_text(*value));
  if (!width) return failure("invalid nonnegative_int value: " + quote(*value));
  if (*width < 0) return failure("Only non-negative integers are allowed.");
  command.view.name_width = static_cast<int>(std::min<std::int64_t>(*width, kWidestName));
  return {};
}

void show_codec(view::GpustatOptions &view, std::string_view which) {
  view.encoder = which.contains("enc");
  view.decoder = which.contains("dec");
}

void show_power(view::GpustatOptions &view, std::string_view which) {
  view.power = !which.empty();
  view.power_limit = which.contains("limit");
}

template <bool view::GpustatOptions::*Target, bool Set = true>
Result<void> in_view(GpustatCommand &command, Value) {
  command.view.*Target = Set;
  return {};
}

template <bool GpustatCommand::*Target>
Result<void> in_command(GpustatCommand &command, Value) {
  command.*Target = true;
  return {};
}

constexpr std::array kOptions{
    GpustatOption{"-h/--help",
                  Takes::nothing,
                  "",
                  {},
                  "this text",
                  [](GpustatCommand &command, Value) -> Result<void> {
                    command.answer = gpustat_help();
                    return {};
                  }},
    GpustatOption{"--print-completion", Takes::one, "SHELL", kShells, "completions for a shell: bash, zsh, tcsh",
                  [](GpustatCommand &command, Value value) -> Result<void> {
                    command.answer = gpustat_completion(*value);
                    return {};
                  }},
    GpustatOption{"--force-color/--color",
                  Takes::nothing,
                  "",
                  {},
                  "colours even when not on a terminal",
                  in_command<&GpustatCommand::colour>},
    GpustatOption{"--no-color", Takes::nothing, "", {}, "no colours", in_command<&GpustatCommand::no_colour>},
    GpustatOption{"--id",
                  Takes::one,
                  "LIST",
                  {},
                  "only these GPUs, by number: 0,1",
                  [](GpustatCommand &command, Value value) -> Result<void> {
                    command.id = *value;
                    return {};
                  }},
    GpustatOption{
        "-a/--show-all", Takes::nothing, "", {}, "the same as -c -u -p -F -e -P", in_command<&GpustatCommand::all>},
    GpustatOption{
        "-c/--show-cmd", Takes::nothing, "", {}, "the name of each process", in_view<&view::GpustatOptions::command>},
    GpustatOption{"-f/--show-full-cmd",
                  Takes::nothing,
                  "",
                  {},
                  "each process on a line: CPU, memory, whole command",
                  in_view<&view::GpustatOptions::full_command>},
    GpustatOption{
        "-u/--show-user", Takes::nothing, "", {}, "the user of each process", in_view<&view::GpustatOptions::user>},
    GpustatOption{
        "-p/--show-pid", Takes::nothing, "", {}, "the number of each process", in_view<&view::GpustatOptions::pid>},
    GpustatOption{"-F/--show-fan-speed/--show-fan",
                  Takes::nothing,
                  "",
                  {},
                  "the speed of the fan",
                  in_view<&view::GpustatOptions::fan>},
    GpustatOption{"-e/--show-codec", Takes::perhaps, "WHICH", kCodecs, "use of the encoder and decoder: enc, dec",
                  [](GpustatCommand &command, Value value) -> Result<void> {
                    show_codec(command.view, value.value_or("enc,dec"));
                    return {};
                  }},
    GpustatOption{"-P/--show-power", Takes::perhaps, "WHICH", kPowers, "power and its limit: draw, limit",
                  [](GpustatCommand &command, Value value) -> Result<void> {
                    show_power(command.view, value.value_or("draw,limit"));
                    return {};
                  }},
    GpustatOption{"--json", Takes::nothing, "", {}, "everything as JSON", in_command<&GpustatCommand::json>},
    GpustatOption{
        "-i/--interval/--watch", Takes::perhaps, "SEC", {}, "again and again, every SEC seconds (1)", set_interval},
    GpustatOption{
        "--no-header", Takes::nothing, "", {}, "without the first line", in_view<&view::GpustatOptions::header, false>},
    GpustatOption{
        "--gpuname-width", Takes::one, "N", {}, "columns for the names of the GPUs; 0: no names", set_name_width},
    GpustatOption{
        "--debug", Takes::nothing, "", {}, "say what could not be read, and why", in_command<&GpustatCommand::debug>},
    GpustatOption{"--no-processes",
                  Takes::nothing,
                  "",
                  {},
                  "without the processes",
                  in_view<&view::GpustatOptions::processes, false>},
    GpustatOption{"-v/--version",
                  Takes::nothing,
                  "",
                  {},
                  "the version",
                  [](GpustatCommand &command, Value) -> Result<void> {
                    command.answer = "gpustat 1.1.1 (gpulse " GPULSE_VERSION ")\n";
                    return {};
                  }},
};

bool is_negative_number(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && text.find_first_not_of("0123456789.", 1) == std::string_view::npos &&
         parse_double(text).has_value();
}

const GpustatOption *find_option(std::string_view name) {
  for (const auto &option : kOptions) {
    const auto names = split(option.names, '/');
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

// An argument as one of the options.
struct Meant {
  const GpustatOption *option = nullptr;
  std::string_view name;
  Value value;  // what stands behind it in the same argument
};

// Every long name that begins so, or the letter that it begins with.
std::vector<Meant> beginnings(std::string_view argument) {
  std::vector<Meant> found;
  if (!argument.starts_with("--")) {
    const auto letter = argument.substr(0, 2);
    if (const auto *option = find_option(letter)) found.push_back({option, letter, argument.substr(2)});
    return found;
  }
  const auto equals = argument.find('=');
  const auto prefix = argument.substr(0, equals);
  const auto value = equals == std::string_view::npos ? Value() : argument.substr(equals + 1);
  for (const auto &option : kOptions) {
    for (const auto name : split(option.names, '/')) {
      if (name.starts_with(prefix)) found.push_back({&option, name, value});
    }
  }
  return found;
}

class Parser {
 public:
  explicit Parser(std::span<const std::string_view> arguments) : arguments_(arguments) {}

  Result<GpustatCommand> run() {
    // An ambiguous name is a mistake wherever it stands, even behind --help.
    for (const auto argument : before_dashes()) {
      if (auto meant = recognise(argument); !meant) return std::unexpected(meant.error());
    }
    while (at_ < arguments_.size() && !command_.answer) {
      const auto argument = arguments_[at_];
      if (argument == "--") break;
      if (auto done = step(argument); !done) return std::unexpected(done.error());
    }
    if (command_.answer) return std::move(command_);
    strangers_.insert(strangers_.end(), arguments_.begin() + static_cast<std::ptrdiff_t>(at_), arguments_.end());
    if (!strangers_.empty()) return failure(fmt::format("unrecognized arguments: {}", fmt::join(strangers_, " ")));
    return std::move(command_);
  }

 private:
  std::span<const std::string_view> before_dashes() const {
    const auto end = std::find(arguments_.begin(), arguments_.end(), "--");
    return arguments_.first(static_cast<std::size_t>(end - arguments_.begin()));
  }

  // None: it is no option but a value. An option that is null is one that nobody knows.
  static Result<std::optional<Meant>> recognise(std::string_view argument) {
    if (argument.size() < 2 || argument[0] != '-') return std::nullopt;
    if (const auto *option = find_option(argument)) return Meant{option, argument, {}};
    if (const auto equals = argument.find('='); equals != std::string_view::npos) {
      const auto name = argument.substr(0, equals);
      if (const auto *option = find_option(name)) return Meant{option, name, argument.substr(equals + 1)};
    }
    const auto found = beginnings(argument);
    if (found.size() == 1) return found.front();
    if (found.size() > 1) {
      std::vector<std::string_view> names;
      for (const auto &one : found) names.push_back(one.name);
      return failure(fmt::format("ambiguous option: {} could match {}", argument, fmt::join(names, ", ")));
    }
    if (is_negative_number(argument) || argument.contains(' ')) return std::nullopt;
    return Meant{nullptr, argument, {}};
  }

  Result<void> step(std::string_view argument) {
    ++at_;
    const auto meant = *recognise(argument);
    if (!meant || meant->option == nullptr) {
      strangers_.push_back(argument);
      return {};
    }
    return consume(*meant);
  }

  // One argument may be a cluster of letters, the last of which may take a value.
  Result<void> consume(Meant meant) {
    std::vector<const GpustatOption *> flags;
    while (meant.option->takes == Takes::nothing && meant.value) {
      const auto ignored = [&] { return complaint(*meant.option, "ignored explicit argument " + quote(*meant.value)); };
      if (meant.name.starts_with("--") || meant.value->empty()) return ignored();
      const auto letter = "-" + std::string(meant.value->substr(0, 1));
      const auto *next = find_option(letter);
      if (next == nullptr) return ignored();
      flags.push_back(meant.option);
      const auto rest = meant.value->substr(1);
      meant = {next, next->names.substr(0, 2), rest.empty() ? Value() : Value(rest)};
    }
    if (meant.option->takes != Takes::nothing && !meant.value) meant.value = next_value();
    if (meant.option->takes == Takes::one && !meant.value) return complaint(*meant.option, "expected one argument");
    for (const auto *flag : flags) {
      if (auto done = apply(*flag, {}); !done) return done;
    }
    return apply(*meant.option, meant.value);
  }

  Value next_value() {
    if (at_ >= arguments_.size() || arguments_[at_] == "--" || *recognise(arguments_[at_])) return std::nullopt;
    return arguments_[at_++];
  }

  Result<void> apply(const GpustatOption &option, Value value) {
    if (command_.answer) return {};
    if (value && !option.choices.empty() &&
        std::find(option.choices.begin(), option.choices.end(), *value) == option.choices.end()) {
      std::vector<std::string> all;
      for (const auto choice : option.choices) all.push_back(quote(choice));
      return complaint(option, fmt::format("invalid choice: {} (choose from {})", quote(*value), fmt::join(all, ", ")));
    }
    auto done = option.apply(command_, value);
    if (!done) return complaint(option, done.error().what);
    if (command_.colour && command_.no_colour) {
      const auto other = option.names == "--no-color" ? "--force-color/--color" : "--no-color";
      return complaint(option, fmt::format("not allowed with argument {}", other));
    }
    return {};
  }

  static std::unexpected<Error> complaint(const GpustatOption &option, std::string_view what) {
    return failure(fmt::format("argument {}: {}", option.names, what));
  }

  std::span<const std::string_view> arguments_;
  std::size_t at_ = 0;
  std::vector<std::string_view> strangers_;
  GpustatCommand command_;
};

}  // namespace

std::span<const GpustatOption> gpustat_options() { return kOptions; }

Result<GpustatCommand> parse_gpustat(std::span<const std::string_view> arguments) {
  auto command = Parser(arguments).run();
  if (command && command->all) {
    auto &view = command->view;
    view.command = view.user = view.pid = view.fan = true;
    show_codec(view, "enc,dec");
    show_power(view, "draw,limit");
  }
  return command;
}

}  // namespace gpulse::cli
