// SPDX-License-Identifier: Apache-2.0
#include "tui/device_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tui/chart.hpp"
#include "tui/device_facts.hpp"
#include "tui/keys.hpp"
#include "tui/session.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"
#include "view/finding_cells.hpp"

namespace gpulse::tui {

using term::Area;
using term::Key;

namespace {

const Device *find_device(const Snapshot &snapshot, const DeviceId &id) {
  const auto found = std::ranges::find(snapshot.devices, id, &Device::id);
  return found == snapshot.devices.end() ? nullptr : &*found;
}

bool has(const Device &device, MetricId id) { return !device.row[id].is(Reason::not_supported); }

// A chart for each metric that is plotted on the main page, so that each has a scale of its own.
std::vector<Chart> make_charts(const DrawContext &context, const Device &device) {
  std::vector<Chart> charts;
  for (const auto id : context.settings.plots) {
    if (!has(device, id)) continue;
    auto curve = device_curve(context, device, id);
    Chart chart{.title = std::exchange(curve.name, {}), .curves = {}};
    chart.curves.push_back(std::move(curve));
    charts.push_back(std::move(chart));
  }
  return charts;
}

// What a person should see first: its state, what holds it back, what was found about it.
TextLines warning_lines(const Device &device, const Session &session, const term::Style &style) {
  TextLines lines;
  if (device.state != DeviceState::ok) lines.push_back(view::state_cell(device).spans);
  if (auto notices = view::notices_cell(style, device).spans; !notices.empty()) {
    notices.insert(notices.begin(), {"! ", notices.front().colour});
    lines.push_back(std::move(notices));
  }
  for (const auto *finding : shown_findings(session)) {
    const auto &devices = finding->devices;
    if (std::ranges::find(devices, device.id) == devices.end()) continue;
    lines.push_back(view::finding_spans(*finding, style.unicode));
  }
  return lines;
}

void add_section(TextLines &to, std::string_view title, TextLines lines) {
  if (lines.empty()) return;
  if (!to.empty()) to.emplace_back();
  if (!title.empty()) to.push_back({{std::string(title), term::Colour::bold}});
  std::ranges::move(lines, std::back_inserter(to));
}

}  // namespace

void DevicePage::go(Session &session, int by) {
  if (session.snapshot == nullptr) return;
  const auto devices = view::ordered_devices(*session.snapshot);
  if (devices.empty()) return;
  const auto at = std::ranges::find(devices, device_, [](const Device *device) { return device->id; });
  const auto count = static_cast<int>(devices.size());
  const int place = at == devices.end() ? 0 : (static_cast<int>(at - devices.begin()) + by + count) % count;
  device_ = devices[static_cast<std::size_t>(place)]->id;
  session.devices.chosen = device_;
  session.devices.scroll_to_chosen = true;
}

bool DevicePage::handle_key(const term::KeyPress &key, Session &session) {
  if (key.key == Key::escape || key.key == Key::enter || is_letter(key, U'q')) return false;
  if (is_letter(key, U'[') || is_letter(key, U'B')) return go(session, -1), true;
  if (is_letter(key, U']') || is_letter(key, U'b')) return go(session, 1), true;
  const auto *binding = page_binding(key);
  if (binding == nullptr) return scroll_.handle(key), true;
  binding->run(session);
  return binding->in_details != InDetails::closes;
}

bool DevicePage::handle(const term::Input &input, Session &session) {
  if (const auto *key = std::get_if<term::KeyPress>(&input)) return handle_key(*key, session);
  if (const auto *mouse = std::get_if<term::MouseEvent>(&input)) {
    scroll_.handle(*mouse);
    return mouse->action != term::MouseAction::press;
  }
  return true;
}

TextLines DevicePage::text_of(const Device &device, const Look &look, const Session &session, int columns) const {
  auto style = look.style;
  style.width = columns;
  const auto &snapshot = *session.snapshot;
  TextLines lines;
  add_section(lines, "", warning_lines(device, session, style));
  add_section(lines, "", identity_lines(snapshot, device, style));
  add_section(lines, "processes", process_lines(snapshot, device, style));
  add_section(lines, "events", event_lines(snapshot, session.events, device, style));
  add_section(lines, "", reading_lines(device, style));
  return lines;
}

void DevicePage::draw(const Area &area, const Look &look, Session &session) {
  constexpr term::Size kBoxedFrom{60, 16};
  // Of the page's lines: enough for a readable chart, not more than a third.
  constexpr int kRowsWithPlots = 20, kPlotShare = 3, kMostPlotRows = 12;
  std::vector<PlotKey> keys;
  for (const auto id : session.settings.plots) keys.push_back({device_, 0, id.index});
  want_plots(session, std::move(keys), chart_samples(session.size.columns, session.settings, look.unicode()));
  const auto *device = find_device(*session.snapshot, device_);
  auto title = fmt::format("GPU {}", text(device_));
  if (device != nullptr && device->identity) {
    title += "  " + term::clean(view::short_name(*device->identity), look.unicode());
  }
  const auto inner = open_page(area, look, title, key_note(key_bar()), kBoxedFrom);
  if (device == nullptr) {
    inner.put(0, 0, "not there at this time", look.theme->warn);
    return;
  }
  const auto context = make_context(session, look);
  const auto charts = make_charts(context, *device);
  int plots = 0;
  if (inner.rows() >= kRowsWithPlots && !charts.empty()) {
    plots = std::clamp(inner.rows() / kPlotShare, kChartRows, kMostPlotRows);
    draw_charts(inner.part({0, 0, inner.columns(), plots}), context, charts);
  }
  const auto below = inner.part({0, plots, inner.columns(), inner.rows() - plots});
  scroll_.draw(below, look, text_of(*device, look, session, below.columns() - 1));
}

void open_device_page(Session &session) {
  if (session.snapshot == nullptr || session.snapshot->devices.empty()) return session.say("there is no GPU to show");
  auto &chosen = session.devices.chosen;
  if (!chosen) chosen = view::ordered_devices(*session.snapshot).front()->id;
  session.open(std::make_unique<DevicePage>(*chosen));
}

}  // namespace gpulse::tui
