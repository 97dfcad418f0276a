// SPDX-License-Identifier: Apache-2.0
// The settings of the live view: a plain value, and the file that keeps it, which people can edit and share. Pure.
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

// Whose devices stand together in their list.
enum class DeviceGroups : std::uint8_t { off, user, job };
template <>
inline constexpr auto kWords<DeviceGroups> = make_words("off", "user", "job");

// What the list of devices is sorted by.
struct DeviceOrder {
  enum class Kind : std::uint8_t { number, name, metric };
  Kind kind = Kind::number;
  MetricId metric{};  // of Kind::metric
  bool descending = false;

  bool sorts_by(const DeviceOrder &other) const { return kind == other.kind && metric == other.metric; }
  bool operator==(const DeviceOrder &) const = default;
};

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
  struct PanelSetting {
    Panel panel;
    bool shown;
    bool operator==(const PanelSetting &) const = default;
  };
  std::vector<PanelSetting> panels;  // all of them, in the order of the screen
  DeviceRows rows = DeviceRows::automatic;
  DeviceOrder device_order;
  DeviceGroups device_groups = DeviceGroups::off;
  bool hide_idle = false;            // devices without work and without processes
  std::vector<MetricId> plots;       // of devices; with those of the host at most kMostPlots
  std::vector<MetricId> host_plots;  // of the host
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

// What to save after a view that `began` with some settings and has others `now`: what the user has changed, and the
// rest as the `file` had it, because flags hold for one start only.
Settings to_remember(const Settings &file, const Settings &began, Settings now);

// The settings on the setup page "Look", in its order. Each has a few values to cycle through.
struct LookItem {
  std::string_view label;
  std::string_view value;
};
std::vector<LookItem> look_items(const Settings &settings);
void cycle_look_item(Settings &settings, std::size_t item);

// The metrics to read at every sample. Counters are not among them: they may be some seconds old.
MetricSet focus_of(const Settings &settings);

// Only gauges of devices and of the host can.
bool can_be_plotted(const Metric &metric);
std::vector<MetricId> plottable_metrics(Scope scope = Scope::device);

// `name` is that of the file, for messages. Settings that are not in the text have their default; an unknown one is an
// error.
Result<Settings> parse_settings(std::string_view text, std::string_view name);
// Keeps the comment lines at the start of the old text, `before`.
std::string write_settings(const Settings &settings, std::string_view before = {});

}  // namespace gpulse::tui
