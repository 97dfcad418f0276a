// SPDX-License-Identifier: Apache-2.0
#include "tui/main_page.hpp"

#include <csignal>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tui/chart.hpp"
#include "tui/details_page.hpp"
#include "tui/device_columns.hpp"
#include "tui/device_commands.hpp"
#include "tui/device_page.hpp"
#include "tui/event_page.hpp"
#include "tui/header.hpp"
#include "tui/keys.hpp"
#include "tui/list_commands.hpp"
#include "tui/panels.hpp"
#include "tui/plot_panel.hpp"
#include "tui/process_commands.hpp"
#include "tui/process_panel.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

using term::Area;
using term::MouseAction;
using term::MouseEvent;

namespace {

void turn_wheel(const MouseEvent &wheel, Session &session) {
  constexpr int kSideways = 8;
  if (wheel.shift) {
    return session.processes.scroll_commands(wheel.action == MouseAction::wheel_up ? -kSideways : kSideways);
  }
  auto over = Panel::processes;
  for (const auto &hit : session.hits) {
    if (hit.kind == Hit::Kind::panel && hit.where.contains(wheel.x, wheel.y)) over = static_cast<Panel>(hit.value);
  }
  panel_row(over).wheel(session, wheel);
}

void click_process(const MouseEvent &mouse, std::size_t row, Session &session) {
  const bool again = session.processes.chosen_row == row;
  session.processes.choose(row);
  session.devices.is_newest = false;
  if (mouse.button == 1) {
    tag(session);
  } else if (mouse.button == 2) {
    open_signal_menu(session);
  } else if (again) {
    open_details(session);
  }
}

}  // namespace

std::vector<KeyHint> MainPage::key_bar() const { return table_hints(time_); }

bool MainPage::handle(const term::Input &input, Session &session) {
  if (const auto *key = std::get_if<term::KeyPress>(&input)) handle_key(*key, session);
  if (const auto *mouse = std::get_if<MouseEvent>(&input)) handle_mouse(*mouse, session);
  return true;
}

void MainPage::handle_key(const term::KeyPress &key, Session &session) {
  if (std::exchange(session.processes.sort_letter_next, false)) return sort_by_letter(session, key);
  // With nothing to interrupt, Ctrl-C is how people leave a program.
  if (is_control(key, U'c') && target_processes(session).empty()) {
    session.requests.quit = true;
    // What is behind this view ends too.
    if (session.options.goes_back) ::raise(SIGINT);
    return;
  }
  if (const auto *binding = binding_for(key)) binding->run(session);
}

void MainPage::handle_mouse(const MouseEvent &mouse, Session &session) const {
  session.processes.sort_letter_next = false;
  if (mouse.action == MouseAction::wheel_up || mouse.action == MouseAction::wheel_down) {
    return turn_wheel(mouse, session);
  }
  if (mouse.action != MouseAction::press) return;
  // The last one drawn lies on top.
  for (auto hit = session.hits.rbegin(); hit != session.hits.rend(); ++hit) {
    if (hit->where.contains(mouse.x, mouse.y)) return click(mouse, *hit, session);
  }
}

void MainPage::click(const MouseEvent &mouse, const Hit &hit, Session &session) const {
  switch (hit.kind) {
    case Hit::Kind::process:
      return click_process(mouse, hit.value, session);
    case Hit::Kind::device: {
      auto &cursor = session.devices;
      const auto devices = view::ordered_devices(*session.snapshot);
      if (hit.value >= devices.size()) return;
      const bool again = cursor.chosen == devices[hit.value]->id;
      cursor.chosen = devices[hit.value]->id;
      cursor.is_newest = true;
      if (again) open_device_page(session);
      return;
    }
    case Hit::Kind::column: {
      const auto columns = shown_columns(session.processes.list, session.settings);
      if (hit.value < columns.size()) sort_by(session, columns[hit.value]);
      return;
    }
    case Hit::Kind::device_column:
      return sort_devices_by(session, order_of(hit.value));
    case Hit::Kind::key:
      return key_bar()[hit.value].run(session);
    case Hit::Kind::finding:
      return open_findings(session);
    case Hit::Kind::event:
      return open_event(session, hit.value);
    case Hit::Kind::item:
    case Hit::Kind::tab:
    case Hit::Kind::panel:
      return;
  }
}

void MainPage::draw(const Area &area, const Look &look, Session &session) {
  if (session.snapshot == nullptr) return draw_waiting(area, look, session);
  time_ = session.playback.replay() || !session.playback.playing();
  const auto layout = lay_out(session.size, session.settings, panel_needs(session));
  auto panel_look = look;
  panel_look.two_lines = layout.two_lines;
  const bool plots =
      std::ranges::any_of(layout.panels, [](const PlacedPanel &each) { return each.panel == Panel::plots; });
  want_plots(session, plots ? plot_keys(*session.snapshot, session.settings) : std::vector<PlotKey>{},
             plots ? chart_samples(session.size.columns, session.settings, look.unicode()) : 0);
  if (!layout.header.empty()) draw_header(area.part(layout.header), look, session);
  if (!layout.findings.empty()) draw_findings(area.part(layout.findings), look, session);
  const auto context = make_context(session, panel_look);
  for (const auto &[panel, where, titled] : layout.panels) {
    const auto part = area.part(where);
    panel_look.frame = {titled, layout.boxed, panel == layout.panels.front().panel,
                        panel == layout.panels.back().panel};
    session.hits.push_back({part.rect(), Hit::Kind::panel, static_cast<std::size_t>(panel)});
    panel_row(panel).draw(part, context, session);
  }
  if (!layout.footer.empty()) draw_key_bar(area.part(layout.footer), look, session);
}

void MainPage::draw_waiting(const Area &area, const Look &look, const Session &session) {
  if (!waiting_since_) waiting_since_ = session.now;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(session.now - *waiting_since_).count();
  const auto text = seconds < 1
                        ? fmt::format("looking for GPUs {}", look.style.ellipsis())
                        : fmt::format("waiting for the {} to answer {} {} s",
                                      session.options.elsewhere ? "engine" : "driver", look.style.ellipsis(), seconds);
  area.put(0, 0, text, look.theme->dim);
  int y = 1;
  if (!session.behind.empty() && y < area.rows()) {
    area.put(0, y++, term::cut(term::clean(session.behind, look.unicode()), area.columns(), look.style.ellipsis()),
             look.theme->warn);
  }
  const std::string_view leave = session.options.goes_back ? "Esc goes back" : "q quits";
  if (y < area.rows()) area.put(0, y, leave, look.theme->dim);
}

void MainPage::draw_key_bar(const Area &area, const Look &look, Session &session) const {
  int x = 0;
  std::size_t place = 0;
  for (const auto &hint : key_bar()) {
    const bool is_back = session.options.goes_back && hint.text == kQuitText;
    const std::string_view text = is_back ? "Back" : hint.text;
    const int width = term::width(hint.key) + 1 + term::width(text);
    if (x + width > area.columns()) break;
    const int from = x;
    x += area.put(x, 0, hint.key, look.theme->key) + 1;
    x += area.put(x, 0, text, look.theme->key_text);
    session.hits.push_back({area.part({from, 0, x - from, 1}).rect(), Hit::Kind::key, place++});
    x += 2;
  }
}

}  // namespace gpulse::tui
