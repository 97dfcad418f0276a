// SPDX-License-Identifier: Apache-2.0
#include "cli/top_screen.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/output.hpp"

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

}  // namespace

bool can_move_cursor() { return variable("TERM") != "dumb"; }

std::optional<Error> why_no_screen(const std::string &name, const std::string &instead) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return Error{name + " needs a terminal", instead};
  if (!can_move_cursor()) {
    return Error{name + " needs a terminal that can move its cursor, and TERM is dumb", instead};
  }
  return std::nullopt;
}

Result<TopLook> top_look(const Options &options) {
  TopLook look{.file = options.settings_file};
  const auto folder = config_folder();
  if (look.file.empty() && !folder.empty()) look.file = folder + "/top.toml";
  auto remembered = tui::load_settings(look.file);
  if (!remembered) return std::unexpected(remembered.error());
  auto settings = settings_of(options, *remembered);
  if (!settings) return std::unexpected(settings.error());
  if (const auto query = tui::Query::parse(options.filter); !query) return std::unexpected(query.error());
  look.remembered = std::move(*remembered);
  look.settings = std::move(*settings);
  return look;
}

term::Style screen_style(const Options &options) {
  auto style = style_of(options, STDOUT_FILENO);
  // The console's font has neither braille nor blocks.
  style.unicode = style.unicode && variable("TERM") != "linux";
  return style;
}

tui::LoopOptions loop_options(const Options &options, const TopLook &look, bool live) {
  const auto style = screen_style(options);
  tui::LoopOptions loop{.depth = depth_of(options, style)};
  loop.settings_file = look.file;
  loop.remembered = look.remembered;
  loop.app = {.settings = look.settings,
              .unicode = style.unicode,
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

}  // namespace gpulse::cli
