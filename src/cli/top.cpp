// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.hpp"
#include "cli/choice.hpp"
#include "cli/history_file.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "feed/history_feed.hpp"
#include "feed/timeline.hpp"
#include "tui/loop.hpp"

namespace gpulse::cli {

namespace {

std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

term::Depth depth_of(const Options &options, const term::Style &style) {
  const auto depth = term::depth_for(variable("TERM"), variable("COLORTERM"));
  if (options.colour) return std::max(depth, term::Depth::ansi16);
  return style.colour ? depth : term::Depth::mono;
}

Result<tui::Settings> settings_of(const Options &options, const tui::Settings &remembered) {
  auto settings = remembered;
  // Flags take the same values as the file, and are checked by the same code.
  std::string more;
  if (!options.sort.empty()) more += "sort = '" + options.sort + "'\n";
  if (!options.rows.empty()) more += "rows = '" + options.rows + "'\n";
  if (!options.theme.empty()) more += "theme = '" + options.theme + "'\n";
  auto given = tui::parse_settings(more, "the command line");
  if (!given) return given;
  if (!options.sort.empty()) {
    settings.sort = given->sort;
    settings.descending = given->descending;
  }
  if (!options.rows.empty()) settings.rows = given->rows;
  if (!options.theme.empty()) settings.theme = given->theme;
  if (options.no_mouse) settings.mouse = false;
  for (auto &each : settings.panels) {
    if (each.panel == tui::Panel::plots && options.no_plots) each.shown = false;
    if (each.panel == tui::Panel::processes && options.no_processes) each.shown = false;
  }
  return settings;
}

std::string why_no_actions(const Options &options, bool live) {
  if (options.readonly) return "started with --readonly";
  if (options.since) return "this is the history";
  if (!live) return "this is a recording";
  if (!options.sysroot.empty() && options.sysroot != "/") return "these are not this machine's processes";
  return {};
}

// What the agent has kept, as a recording.
Result<feed::Feed *> open_since(const Options &options, const feed::Options &reading) {
  const auto file = history_to_read(options.history);
  if (!file) return std::unexpected(file.error());
  const auto now = wall_now();
  const auto from = std::max(now - *options.since, WallTime{});
  // A clock that has been set back since must not hide what is newest.
  const auto to = now + std::chrono::days(1);
  auto feed = feed::open_history(*file, {from, to}, reading);
  if (!feed) return std::unexpected(feed.error());
  return feed->release();
}

// Before what is seen live comes what the agent has kept; where that cannot be read, nothing.
feed::JoinedTimeline::OpenPast past_of(const Options &options, const feed::Options &reading) {
  // A history is of the whole machine, as an agent sees it.
  if (!reading.agent && options.history.empty()) return {};
  return [wanted = options.history](WallTime before) -> std::unique_ptr<feed::Timeline> {
    const auto file = history_to_read(wanted);
    if (!file) return nullptr;
    auto past = feed::open_past(*file, {WallTime{}, before});
    return past ? std::move(*past) : nullptr;
  };
}

// Where it begins: a recording at its start, a history at what is newest, for who wants to look back from there.
void set_start(const Options &options, feed::Timeline &recording, tui::AppOptions &app) {
  if (options.at) {
    app.start = recording.find(recording.time(recording.first()) + *options.at);
  } else if (options.since) {
    app.start = recording.end() - 1;
    app.paused = true;
  }
}

std::optional<Error> why_no_screen() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return Error{"gpulse top needs a terminal", "use gpulse --watch for a stream"};
  }
  if (variable("TERM") == "dumb") {
    return Error{"gpulse top needs a terminal that can move its cursor, and TERM is dumb", "use gpulse --watch"};
  }
  return std::nullopt;
}

tui::LoopOptions loop_options(const Options &options, const tui::Settings &settings, bool live) {
  const auto style = style_of(options, STDOUT_FILENO);
  tui::LoopOptions loop{.depth = depth_of(options, style)};
  loop.app = {.settings = settings,
              // The console's font has neither braille nor blocks.
              .unicode = style.unicode && variable("TERM") != "linux",
              .no_actions = why_no_actions(options, live),
              .filter = options.filter,
              .part = {},
              .replay = !live,
              .speed = options.speed,
              .interval = options.interval,
              .sysroot = options.sysroot};
  // Without colours only a theme that needs none can be read.
  if (loop.depth == term::Depth::mono) loop.app.settings.theme = tui::ThemeName::mono;
  return loop;
}

}  // namespace

int run_top(const Options &options) {
  // A terminal does not help whoever names a recording that is not there; no driver is opened without one.
  const bool recorded = options.since || !options.replay.empty();
  const auto no_screen = why_no_screen();
  if (no_screen && !recorded) return fail(*no_screen);
  const auto folder = config_folder();
  auto file = options.settings_file;
  if (file.empty() && !folder.empty()) file = folder + "/top.toml";
  const auto remembered = tui::load_settings(file);
  if (!remembered) return fail(remembered.error(), kUsage);
  const auto settings = settings_of(options, *remembered);
  if (!settings) return fail(settings.error(), kUsage);
  if (options.since && (options.demo || !options.replay.empty())) {
    return fail({"--since is for the history", "leave out --replay and --demo"}, kUsage);
  }
  if (const auto query = tui::Query::parse(options.filter); !query) return fail(query.error(), kUsage);
  auto reading = feed_options(options);
  reading.continuous = true;
  reading.notice = {};  // told on the screen
  const auto opened = options.since ? open_since(options, reading) : open_feed(reading);
  if (!opened) return fail(opened.error());
  if (no_screen) return fail(*no_screen);
  auto &feed = **opened;

  auto loop = loop_options(options, *settings, feed.is_live());
  loop.settings_file = file;
  loop.remembered = *remembered;
  Choice choice(options, feed.is_live());
  if (!choice.is_everything()) {
    loop.app.part = [&choice](const SnapshotPtr &sample) { return choice.part_of(sample); };
  }
  if (auto *recording = feed.recording(); recording != nullptr) {
    set_start(options, *recording, loop.app);
  } else {
    loop.open_past = past_of(options, reading);
  }
  const auto done = tui::run(loop, feed);
  return done ? kGood : fail(done.error());
}

}  // namespace gpulse::cli
