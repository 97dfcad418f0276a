// SPDX-License-Identifier: Apache-2.0
#include "tui/setting_menus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tui/screen_commands.hpp"
#include "tui/session.hpp"

namespace gpulse::tui {

namespace {

// Before the name of a metric of the host in the menu of plots.
constexpr std::string_view kHostPlot = "host ";

void apply_panels(Session &session, Menu &menu) {
  auto &settings = session.settings;
  std::vector<Settings::PanelSetting> panels;
  for (const auto &item : menu.items) {
    if (const auto panel = from_word<Panel>(item.label)) panels.push_back({*panel, item.checked});
  }
  settings.panels = std::move(panels);
}

void apply_plots(Session &session, Menu &menu) {
  std::vector<MetricId> plots;
  std::vector<MetricId> host_plots;
  for (const auto &item : menu.items) {
    if (!item.checked) continue;
    std::string_view name = item.label;
    const bool of_host = name.starts_with(kHostPlot);
    if (of_host) name.remove_prefix(kHostPlot.size());
    if (const auto id = find_metric(of_host ? Scope::host : Scope::device, name)) {
      (of_host ? host_plots : plots).push_back(*id);
    }
  }
  if (plots.size() + host_plots.size() > Settings::kMostPlots) {
    menu.items[menu.at].checked = false;
    return session.say(fmt::format("at most {} at once", Settings::kMostPlots));
  }
  session.settings.plots = std::move(plots);
  session.settings.host_plots = std::move(host_plots);
}

void apply_columns(Session &session, Menu &menu) {
  std::vector<ProcessColumn> columns;
  for (const auto &item : menu.items) {
    if (const auto column = column_named(item.label); column && item.checked) columns.push_back(*column);
  }
  // A list without any column would look broken.
  session.settings.columns = columns.empty() ? default_columns() : std::move(columns);
  session.refresh();
}

void apply_look(Session &session, Menu &menu) {
  const auto at = menu.at;
  if (at < look_items(session.settings).size()) {
    cycle_look_item(session.settings, at);
  } else {
    // From the longest it begins anew with the shortest.
    const auto before = session.interval;
    change_interval(session, 1);
    if (session.interval == before && !session.options.replay) session.interval = Seconds(0.1);
  }
  session.refresh();
  menu = look_menu(session).menu;
  menu.at = at;
}

bool any_device_has(const Snapshot &snapshot, MetricId id) {
  return std::ranges::any_of(snapshot.devices,
                             [&](const Device &device) { return !device.row[id].is(Reason::not_supported); });
}

void open_menu(Session &session, SettingMenu menu) {
  session.open(std::make_unique<MenuDialogue>(std::move(menu.menu), menu.apply));
}

}  // namespace

SettingMenu panels_menu(const Session &session) {
  Menu menu{.title = "Panels", .items = {}, .checks = true, .ordered = true};
  for (const auto &each : session.settings.panels) {
    menu.items.push_back({std::string(word(each.panel)), "", each.shown});
  }
  return {std::move(menu), apply_panels};
}

SettingMenu plots_menu(const Session &session) {
  Menu menu{
      .title = fmt::format("Plots (at most {})", Settings::kMostPlots), .items = {}, .checks = true, .ordered = true};
  const auto add = [&](MetricId id, bool checked) {
    menu.items.push_back({std::string(describe(id).key), std::string(describe(id).help), checked});
  };
  const auto &chosen = session.settings.plots;
  for (const auto id : chosen) add(id, true);
  for (const auto id : plottable_metrics()) {
    if (std::ranges::find(chosen, id) != chosen.end()) continue;
    // A plot that no device here could fill is not offered.
    if (session.snapshot == nullptr || any_device_has(*session.snapshot, id)) add(id, false);
  }
  for (const auto id : plottable_metrics(Scope::host)) {
    if (session.snapshot != nullptr && session.snapshot->host[id].is(Reason::not_supported)) continue;
    const auto &of_host = session.settings.host_plots;
    menu.items.push_back({std::string(kHostPlot) + std::string(describe(id).key), std::string(describe(id).help),
                          std::ranges::find(of_host, id) != of_host.end()});
  }
  return {std::move(menu), apply_plots};
}

SettingMenu columns_menu(const Session &session) {
  Menu menu{.title = "Columns", .items = {}, .checks = true, .ordered = true};
  const auto add = [&](const ProcessColumn &column, bool checked) {
    menu.items.push_back({std::string(key(column)), std::string(help(column)), checked});
  };
  const auto &chosen = session.settings.columns;
  for (const auto &column : chosen) add(column, true);
  for (const auto &column : all_columns()) {
    if (std::ranges::find(chosen, column) == chosen.end()) add(column, false);
  }
  return {std::move(menu), apply_columns};
}

SettingMenu look_menu(const Session &session) {
  Menu menu{.title = "Look", .items = {}};
  for (const auto &[label, value] : look_items(session.settings)) {
    menu.items.push_back({std::string(label), std::string(value)});
  }
  menu.items.push_back({"a sample every", fmt::format("{:g} s (until it ends)", session.interval.count())});
  return {std::move(menu), apply_look};
}

void open_plots_menu(Session &session) { open_menu(session, plots_menu(session)); }
void open_columns_menu(Session &session) { open_menu(session, columns_menu(session)); }

}  // namespace gpulse::tui
