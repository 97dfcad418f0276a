// SPDX-License-Identifier: Apache-2.0
#include "tui/device_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "insight/notices.hpp"
#include "term/plot.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

using term::Align;
using term::Area;
using term::Cell;
using term::Colour;

namespace {

using Devices = std::vector<const Device *>;

struct Column {
  std::string title;
  term::FitColumn fit;
  Align align = Align::right;
  std::vector<Cell> cells{};                                    // either these, one per device
  std::function<void(const Area &, const Device &)> picture{};  // or this
  std::optional<MetricId> metric = std::nullopt;
};

constexpr int kMust = 1000;

bool any(const Devices &devices, Role role) {
  const auto id = find_role(Scope::device, role);
  return id && std::ranges::any_of(devices,
                                   [&](const Device *device) { return !device->row[*id].is(Reason::not_supported); });
}

bool any_value(const Devices &devices, MetricId id) {
  return std::ranges::any_of(devices, [&](const Device *device) { return device->row[id].has_value(); });
}

std::string title_of(Role role) { return std::string(view::label_of(Scope::device, role)); }

int full_memory(const Devices &devices) {
  int width = 0;
  for (const auto *device : devices) {
    const auto total = view::by_role(device->row, Role::memory_total);
    if (total) width = std::max(width, term::width(view::short_share(total.value(), total.value())));
  }
  return width;
}

int full_power(const Devices &devices) {
  int width = 0;
  for (const auto *device : devices) {
    const auto limit = view::by_role(device->row, Role::power_limit);
    if (limit) width = std::max(width, 2 * term::width(fixed(limit.value(), 0)) + 2);  // "700/700W"
  }
  return width;
}

void meter(const Area &area, const Look &look, double share, Colour colour) {
  if (share < 0) return;
  term::draw_meter(area, share, look.ink(colour), look.theme->border, look.unicode());
}

Colour busy_colour(const Device &device, double percent) {
  const auto cell_colour = view::load_colour(percent);
  if (insight::seems_busier_than_it_is(device)) return Colour::warn;
  return cell_colour == Colour::dim ? Colour::good : cell_colour;
}

class Columns {
 public:
  Columns(const Devices &devices, const DrawContext &context)
      : devices_(devices), context_(context), look_(context.look) {}

  std::vector<Column> all(bool two_lines) {
    text("GPU", kMust, [](const Device &d) { return Cell(gpulse::text(d.id)); });
    name();
    activity();
    memory();
    text("POWER", 720, [this](const Device &d) { return view::power_cell(look_.style, d); }, full_power(devices_));
    text(
        title_of(Role::temperature), 730,
        [this](const Device &d) { return view::role_cell(look_.style, d.row, Role::temperature); }, 4);
    for (const auto id : view::ranked_metrics(Scope::device)) {
      if (!is_activity(id)) extra(id, 200 - describe(id).rank);
    }
    if (!two_lines) notices();
    return std::move(columns_);
  }

 private:
  static bool is_activity(MetricId id) {
    return describe(id).group == Group::activity && describe(id).unit == Unit::percent;
  }

  void notices() {
    text("LOOK AT", 600, [this](const Device &d) { return view::notices_cell(look_.style, d); }, 7);
    auto &column = columns_.back();
    if (std::ranges::all_of(column.cells, [](const Cell &cell) { return cell.spans.empty(); })) {
      columns_.pop_back();
      return;
    }
    column.align = Align::left;
    column.fit.min = 10;
    column.fit.gap = 2;
  }

  // `least` is the width of the largest value it could show, so that the column does not jump.
  template <class MakeCell>
  void text(std::string title, int keep, const MakeCell &cell, int least = 0) {
    auto &column = columns_.emplace_back(Column{.title = std::move(title), .fit = {.keep = keep}});
    column.fit.width = std::max(term::width(column.title), least);
    column.cells.reserve(devices_.size());
    for (const auto *device : devices_) {
      column.cells.push_back(cell(*device));
      column.fit.width = std::max(column.fit.width, term::width(column.cells.back().spans));
    }
  }

  void picture(std::string title, term::FitColumn fit, std::function<void(const Area &, const Device &)> draw) {
    columns_.push_back({.title = std::move(title), .fit = fit, .align = Align::left, .picture = std::move(draw)});
  }

  void name() {
    text("NAME", kMust, [this](const Device &d) { return Cell(view::device_name(d, look_.style), Colour::bold); });
    columns_.back().align = Align::left;
    columns_.back().fit.width = std::min(columns_.back().fit.width, 24);
    columns_.back().fit.min = std::min(columns_.back().fit.width, 6);
  }

  void extra(MetricId id, int keep) {
    if (!any_value(devices_, id)) return;
    text(
        std::string(describe(id).label), keep,
        [this, id](const Device &d) { return view::value_cell(look_.style, describe(id), d.row[id]); },
        describe(id).unit == Unit::percent ? 4 : 0);
    columns_.back().metric = id;
  }

  void activity() {
    constexpr auto kUse = role_metric<Scope::device>(Role::utilization);
    const bool used = any_value(devices_, kUse);
    if (used) {
      picture("", {.width = 10, .min = 6, .max = 30, .keep = 690}, [this](const Area &area, const Device &d) {
        const auto reading = view::by_role(d.row, Role::utilization);
        if (reading) meter(area, look_, reading.value() / 100, busy_colour(d, reading.value()));
      });
    }
    text(
        title_of(Role::utilization), 900,
        [this](const Device &d) { return view::role_cell(look_.style, d.row, Role::utilization); }, 4);
    if (used) {
      picture("", {.width = kSparkColumns, .min = 5, .max = kMostSparkColumns, .keep = 700},
              [this](const Area &area, const Device &d) {
                const auto values = context_.history.values({d.id, 0, kUse.index});
                term::draw_sparkline(area, values, 0, 100, look_.ink(Colour::good), look_.unicode());
              });
    }
    if (any(devices_, Role::true_activity)) {
      text(
          title_of(Role::true_activity), 850, [this](const Device &d) { return view::activity_cell(look_.style, d); },
          4);
    }
    // Utilisation does not say how much of the device is at work; these do, so they stand beside it.
    for (const auto id : view::ranked_metrics(Scope::device)) {
      if (is_activity(id)) extra(id, 450 - describe(id).rank);
    }
  }

  void memory() {
    if (std::ranges::any_of(devices_, [](const Device *d) { return view::memory_share(*d) >= 0; })) {
      picture("", {.width = 8, .min = 5, .max = 20, .keep = 350, .gap = 2}, [this](const Area &area, const Device &d) {
        const double share = view::memory_share(d);
        meter(area, look_, share, view::memory_colour(share));
      });
    }
    text("MEMORY", 800, [this](const Device &d) { return view::memory_cell(look_.style, d); }, full_memory(devices_));
  }

  const Devices &devices_;
  const DrawContext &context_;
  const Look &look_;
  std::vector<Column> columns_;
};

// "! hw thermal  GCLK 1980MHz": notices first, then readings that got no column, as many as fit.
void draw_second_line(const Area &area, const Look &look, const Device &device,
                      const std::vector<MetricId> &left_over) {
  int x = 4;
  const auto room = [&] { return area.columns() - x; };
  if (const auto found = view::notices_cell(look.style, device).spans; !found.empty()) {
    x += area.put(x, 0, "! ", look.ink(found.front().colour));
    x += put_spans(area, x, 0, found, look, room()) + 2;
  }
  for (const auto id : left_over) {
    const auto &metric = describe(id);
    if (!device.row[id]) continue;
    const auto value = view::value_cell(look.style, metric, device.row[id]).spans.front();
    const int width = term::width(metric.label) + 1 + term::width(value.text);
    if (width > room()) continue;
    x += area.put(x, 0, metric.label, look.theme->dim) + 1;
    x += area.put(x, 0, value.text, look.ink(value.colour)) + 2;
  }
}

void draw_row(const Area &area, const Look &look, const Devices &devices, std::size_t place,
              const std::vector<Column> &columns, const std::vector<int> &widths) {
  const auto &device = *devices[place];
  int x = 0;
  const bool answers = device.state == DeviceState::ok;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    if (x > 0) x += columns[i].fit.gap;
    if (!answers && i == 2) {
      const auto state = view::state_cell(device);
      put_spans(area, x, 0, state.spans, look, area.columns() - x);
      return;
    }
    const auto &column = columns[i];
    if (column.picture) {
      column.picture(area.part({x, 0, widths[i], 1}), device);
    } else {
      put_cell(area, x, 0, widths[i], column.cells[place], column.align, look);
    }
    x += widths[i];
  }
}

void draw_heading(const Area &area, const Look &look, const std::vector<Column> &columns,
                  const std::vector<int> &widths) {
  int x = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    if (x > 0) x += columns[i].fit.gap;
    const auto title = term::pad(term::cut(columns[i].title, widths[i], ""), widths[i], columns[i].align);
    area.put(x, 0, title, look.theme->heading);
    x += widths[i];
  }
}

// Moves `first` so that the chosen line is one of the `seen` visible ones.
void scroll_to(std::size_t &first, std::optional<std::size_t> chosen, std::size_t seen, std::size_t all) {
  if (chosen && *chosen < first) first = *chosen;
  if (chosen && seen > 0 && *chosen >= first + seen) first = *chosen - seen + 1;
  first = std::min(first, all > seen ? all - seen : 0);
}

}  // namespace

int device_panel_rows(const Snapshot &snapshot, bool two_lines) {
  if (snapshot.devices.empty()) return 1;
  int rows = 1;
  for (const auto &device : snapshot.devices) rows += two_lines && !device.is_instance() ? 2 : 1;
  return rows;
}

std::vector<PlotKey> device_plot_keys(const Snapshot &snapshot) {
  std::vector<PlotKey> keys;
  constexpr auto kUse = role_metric<Scope::device>(Role::utilization);
  for (const auto &device : snapshot.devices) keys.push_back({device.id, 0, kUse.index});
  return keys;
}

void draw_devices(const Area &area, const DrawContext &context, std::size_t &first, bool follow) {
  const auto &look = context.look;
  const bool two_lines = look.two_lines;
  const auto devices = view::ordered_devices(context.snapshot);
  const auto note = devices.size() > 1 ? fmt::format("{} devices", devices.size()) : std::string();
  const auto inner = open_panel(area, look, "GPUs", note);
  if (devices.empty()) {
    inner.put(0, 0, absence_words(context.snapshot), look.theme->warn);
    return;
  }
  Columns maker(devices, context);  // the columns call back into it
  const auto columns = maker.all(two_lines);
  std::vector<term::FitColumn> wanted;
  for (const auto &column : columns) wanted.push_back(column.fit);
  const bool heading = inner.rows() > 1;
  const int each = two_lines ? 2 : 1;
  const auto seen = static_cast<std::size_t>(std::max(0, inner.rows() - (heading ? 1 : 0)) / each);
  const auto widths = term::fit_columns(wanted, beside_scrollbar(inner.columns(), seen, devices.size()), kPanelFit);
  std::vector<MetricId> left_over = view::ranked_metrics(Scope::device);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] > 0 && columns[i].metric) std::erase(left_over, *columns[i].metric);
  }
  if (heading) draw_heading(inner.row(0), look, columns, widths);

  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (context.device == devices[i]->id) chosen = i;
  }
  scroll_to(first, follow ? chosen : std::nullopt, seen, devices.size());
  int y = heading ? 1 : 0;
  for (std::size_t i = first; i < devices.size() && y < inner.rows(); ++i) {
    const bool second = two_lines && !devices[i]->is_instance();
    draw_row(inner.row(y), look, devices, i, columns, widths);
    if (second && devices[i]->state == DeviceState::ok && y + 1 < inner.rows()) {
      draw_second_line(inner.row(y + 1), look, *devices[i], left_over);
    }
    const auto line = inner.part({0, y, inner.columns(), second ? 2 : 1});
    if (chosen == i) line.highlight(look.theme->selected, look.theme->selected_attributes);
    context.hits.push_back({line.rect(), Hit::Kind::device, i});
    y += second ? 2 : 1;
  }
  draw_scrollbar(inner.part({0, heading ? 1 : 0, inner.columns(), inner.rows()}), look, first, seen, devices.size());
}

}  // namespace gpulse::tui
