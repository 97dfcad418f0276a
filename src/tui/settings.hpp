// SPDX-License-Identifier: Apache-2.0
// How a user wants the live view: a plain value, and the file it is remembered in, which a person can edit and share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "tui/columns.hpp"
#include "tui/theme.hpp"

namespace gpulse::tui {

enum class Panel : std::uint8_t { devices, plots, processes, host, events };
template <>
inline constexpr auto kWords<Panel> = make_words("gpus", "plots", "processes", "host", "events");
inline constexpr std::size_t kPanels = kWords<Panel>.size();

enum class DeviceRows : std::uint8_t { automatic, full, compact };
template <>
inline constexpr auto kWords<DeviceRows> = make_words("auto", "full", "compact");

enum class PlotMode : std::uint8_t { automatic, per_device, together };
template <>
inline constexpr auto kWords<PlotMode> = make_words("auto", "per-gpu", "together");

enum class OnlyType : std::uint8_t { all, compute, graphics };
template <>
inline constexpr auto kWords<OnlyType> = make_words("all", "compute", "graphics");

enum class Totals : std::uint8_t { off, user, job };
template <>
inline constexpr auto kWords<Totals> = make_words("off", "user", "job");

struct Settings {
  struct Shown {
    Panel panel;
    bool shown;
    bool operator==(const Shown &) const = default;
  };
  std::vector<Shown> panels;  // all of them, in their order on the screen
  DeviceRows rows = DeviceRows::automatic;
  std::vector<MetricId> plots;  // of devices, at most kMostPlots
  PlotMode plot_mode = PlotMode::automatic;
  int zoom = 1;  // samples per dot of a plot
  std::vector<ProcessColumn> columns;
  ProcessColumn sort;
  bool descending = true;
  bool tree = false;
  OnlyType only = OnlyType::all;
  Totals totals = Totals::off;
  ThemeName theme = ThemeName::dark;
  bool mouse = true;
  bool newest_left = false;  // plots run from right to left

  static constexpr std::size_t kMostPlots = 6;
  static constexpr int kMostZoom = 64;

  bool shows(Panel panel) const;
  void toggle(Panel panel);
  bool operator==(const Settings &) const = default;
};

Settings default_settings();

// What to remember of a view that `began` with some settings and has these `now`: what was changed meanwhile, else what
// the file has. What a flag says holds for this time only.
Settings to_remember(const Settings &file, const Settings &began, Settings now);

// The settings of the setup page "Look", in its order; each is turned to its next value.
struct LookItem {
  std::string_view label;
  std::string_view value;
};
std::vector<LookItem> look_items(const Settings &settings);
void turn_look_item(Settings &settings, std::size_t item);

// What the view shows with these settings at every sample. Counters are left out: what they say holds a while later
// too.
MetricSet focus_of(const Settings &settings);

// What a metric that can be plotted is: a number of a device that goes up and down.
bool can_be_plotted(const Metric &metric);
std::vector<MetricId> plottable_metrics();

// `name` stands for the file in messages. What the text does not mention is as by default; what it does not know is an
// error that says so.
Result<Settings> parse_settings(std::string_view text, std::string_view name);
// Begins with the comment lines that `before` begins with.
std::string write_settings(const Settings &settings, std::string_view before = {});

}  // namespace gpulse::tui
