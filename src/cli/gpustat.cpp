// SPDX-License-Identifier: Apache-2.0
#include "view/gpustat.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "cli/drop_in.hpp"
#include "cli/gpustat_arguments.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"

namespace gpulse::cli {

namespace {

bool is_set(const char *variable) {
  const char *value = std::getenv(variable);
  return value != nullptr && value[0] != '\0';
}

bool wants_colour(const GpustatCommand &command, int fd) {
  if (is_set("NO_COLOR") || command.no_colour) return false;
  if (command.colour || is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE")) return true;
  return term::detect_style(fd).colour;
}

int wrong_usage(const Error &error) {
  tell(fmt::format("{}gpustat: error: {}\n", gpustat_usage(), error.what));
  return kUsage;
}

int give_up(const Error &error, bool debug) {
  const bool colour = wants_colour({}, STDERR_FILENO);
  tell(
      fmt::format("Error on querying NVIDIA devices. Use --debug flag to see more details.\n"
                  "{}{}{}\n{}",
                  colour ? "\033[31m" : "", error.line(), colour ? "\033[m" : "",
                  debug ? "\ngpulse doctor says what was looked for, and what was found.\n" : ""));
  return kFailure;
}

bool has_device(const Snapshot &snapshot) {
  return std::any_of(snapshot.devices.begin(), snapshot.devices.end(),
                     [](const Device &d) { return !d.is_instance(); });
}

// A driver without a GPU is no failure; nothing at all is one.
Result<void> check(const Snapshot &snapshot, bool live) {
  const bool driver = std::any_of(snapshot.sources.begin(), snapshot.sources.end(),
                                  [](const SourceStatus &source) { return !source.driver.empty(); });
  if (!live || driver || has_device(snapshot)) return {};
  const auto why = absence(snapshot);
  return failure(why.empty() ? std::string(absence_words(snapshot)) : why);
}

Result<std::vector<std::uint32_t>> chosen_devices(const std::string &list, const Snapshot &snapshot) {
  std::vector<std::uint32_t> chosen;
  for (const auto piece : split(list, ',')) {
    auto text = trim(piece);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto number = parse_integer<std::int64_t>(text);
    if (!number) return failure(fmt::format("invalid literal for int() with base 10: '{}'", piece));
    const bool known = std::any_of(snapshot.devices.begin(), snapshot.devices.end(), [&](const Device &device) {
      return !device.is_instance() && device.id.index == *number;
    });
    if (!known) return failure("Invalid Argument");
    chosen.push_back(static_cast<std::uint32_t>(*number));
  }
  return chosen;
}

// One reading of nothing but what is shown; a second where the processor use of the processes is shown, or where a
// driver gives counters instead of a use.
Result<SnapshotPtr> look_once(const Options &options, bool with_cpu) {
  auto reading = feed_options(options);
  reading.only = view::needs_of_gpustat();
  reading.rates = with_cpu ? feed::Rates::always : feed::Rates::if_needed;
  const auto feed = open_feed(reading);
  if (!feed) return std::unexpected(feed.error());
  auto snapshot = first_look(**feed);
  if (!snapshot) return snapshot;
  if (auto good = check(**snapshot, (*feed)->is_live()); !good) return std::unexpected(good.error());
  return snapshot;
}

Result<void> choose(GpustatCommand &command, const Snapshot &snapshot) {
  if (!command.id || !has_device(snapshot)) return {};
  auto chosen = chosen_devices(*command.id, snapshot);
  if (!chosen) return std::unexpected(chosen.error());
  command.view.devices = std::move(*chosen);
  return {};
}

int show_once(GpustatCommand command, const Options &options) {
  const auto snapshot = look_once(options, command.json || command.view.full_command);
  if (!snapshot) return give_up(snapshot.error(), command.debug);
  if (auto chosen = choose(command, **snapshot); !chosen) return give_up(chosen.error(), command.debug);
  if (has_device(**snapshot)) {
    if (const auto why = absence(**snapshot); !why.empty()) tell(fmt::format("gpustat: {}\n", why));
  }
  if (command.debug) tell(view::gpustat_report(**snapshot));
  const auto text = command.json ? view::gpustat_json(**snapshot, command.view.devices)
                                 : view::render_gpustat(**snapshot, command.view);
  if (auto written = write_out(text); !written) return fail(written.error());
  return kGood;
}

int watch(GpustatCommand command, const Options &options) {
  const auto stop = stop_on_signals();
  auto reading = feed_options(options);
  reading.only = view::needs_of_gpustat();
  reading.continuous = true;
  reading.interval =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(command.interval_seconds));
  const auto feed = open_feed(reading, stop);
  if (!feed) return give_up(feed.error(), command.debug);
  // What is wrong from the start is said before the screen is taken.
  auto snapshot = first_next(**feed, stop);
  if (!snapshot) return give_up(snapshot.error(), command.debug);
  if (*snapshot == nullptr) return kGood;
  if (auto good = check(**snapshot, (*feed)->is_live()); !good) return give_up(good.error(), command.debug);
  if (auto chosen = choose(command, **snapshot); !chosen) return give_up(chosen.error(), command.debug);
  LiveScreen screen(::isatty(STDOUT_FILENO) == 1);
  Result<void> drawn;
  const auto draw = [&](const SnapshotPtr &sample) {
    drawn = screen.draw(view::render_gpustat(*sample, command.view));
    return drawn.has_value();
  };
  if (!draw(*snapshot)) return fail(drawn.error());
  const auto followed = (*feed)->follow(stop, draw);
  if (!drawn) return fail(drawn.error());
  return followed ? kGood : fail(followed.error());
}

}  // namespace

int run_gpustat(std::span<char *> arguments) {
  Options options;
  const auto theirs = take_own_options(arguments, options);
  if (!theirs) return wrong_usage(theirs.error());
  auto command = parse_gpustat(*theirs);
  if (!command) return wrong_usage(command.error());
  if (command->answer) {
    if (auto written = write_out(*command->answer); !written) return fail(written.error());
    return kGood;
  }
  const bool again = command->interval_seconds > 0;
  if (again && command->json) {
    tell("Error: --json and --interval/-i can't be used together.\n");
    return kFailure;
  }
  command->view.colour = wants_colour(*command, STDOUT_FILENO);
  // watch(1) does not know the usual end of a colour.
  if (command->colour) command->view.normal = "\033[0;10m";
  return again ? watch(std::move(*command), options) : show_once(std::move(*command), options);
}

}  // namespace gpulse::cli
