// SPDX-License-Identifier: Apache-2.0
#include "tui/panels.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tui/device_commands.hpp"
#include "tui/device_panel.hpp"
#include "tui/event_panel.hpp"
#include "tui/host_panel.hpp"
#include "tui/list_commands.hpp"
#include "tui/plot_panel.hpp"
#include "tui/process_panel.hpp"
#include "tui/screen_commands.hpp"

namespace gpulse::tui {

namespace {

using term::Area;

void zoom(Session &session, const term::MouseEvent &wheel) {
  wheel.action == term::MouseAction::wheel_up ? zoom_in(session) : zoom_out(session);
}

// In the order of Panel.
constexpr std::array kRows{
    PanelRow{Panel::devices,
             [](const Area &area, const DrawContext &context, Session &session) {
               auto &cursor = session.devices;
               draw_devices(area, context, cursor.first, std::exchange(cursor.scroll_to_chosen, false));
             },
             scroll_devices},
    PanelRow{Panel::plots,
             [](const Area &area, const DrawContext &context, Session &session) {
               draw_plots(area, context, session.plots);
             },
             zoom},
    PanelRow{Panel::processes,
             [](const Area &area, const DrawContext &context, Session &session) {
               draw_processes(area, context, session.processes);
             },
             scroll_processes},
    PanelRow{Panel::host, [](const Area &area, const DrawContext &context, Session &) { draw_host(area, context); },
             scroll_processes},
    PanelRow{Panel::events,
             [](const Area &area, const DrawContext &context, Session &session) {
               draw_events(area, context, session.events);
             },
             scroll_processes},
};
static_assert(kRows.size() == kPanels);

}  // namespace

const PanelRow &panel_row(Panel panel) { return kRows[static_cast<std::size_t>(panel)]; }

PanelNeeds panel_needs(const Session &session) {
  const auto &snapshot = *session.snapshot;
  const auto processes = std::min<std::size_t>(session.processes.list.rows.size(), 100'000);
  const auto devices = list_devices(snapshot, session.settings);
  return {.devices_compact = device_panel_rows(devices, false),
          .devices_full = device_panel_rows(devices, true),
          .device_count = devices.lines.size(),
          .host = host_panel_rows(snapshot, std::max(1, session.size.columns - 2)),
          .processes = 1 + std::max(1, static_cast<int>(processes)),
          .events = static_cast<int>(std::min<std::size_t>(session.events.size(), 100)),
          .findings = static_cast<int>(std::min<std::size_t>(shown_findings(session).size(), 100)),
          .charts = plot_count(snapshot, session.settings)};
}

}  // namespace gpulse::tui
