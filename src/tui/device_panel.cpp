// SPDX-License-Identifier: Apache-2.0
#include "tui/device_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tui/device_columns.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

using term::Align;
using term::Area;

namespace {

struct Table {
  std::vector<DeviceColumn> columns;
  std::vector<int> widths;
  std::string name;  // of all devices, where the lines have no room for it
};

std::vector<int> fit(const std::vector<DeviceColumn> &columns, int available) {
  std::vector<term::FitColumn> wanted;
  for (const auto &column : columns) wanted.push_back(column.fit);
  return term::fit_columns(wanted, available, kPanelFit);
}

// Names that would be cut lose what they have in common: it says nothing to repeat it.
Table make_table(const DeviceLines &lines, const DrawContext &context, int available) {
  Table table{.columns = device_columns(lines, context, context.look.two_lines), .widths = {}, .name = {}};
  table.widths = fit(table.columns, available);
  const auto names = std::ranges::find(table.columns, true, &DeviceColumn::is_name);
  const auto place = names - table.columns.begin();
  if (table.widths[static_cast<std::size_t>(place)] >= names->fit.width) return table;
  table.name = common_name(lines, context.look.style, context.look.frame.title);
  const bool totals = std::ranges::any_of(lines, &DeviceLine::is_total);
  if (!table.name.empty() && !totals) {
    table.columns.erase(names);
  } else {
    drop_common_words(*names);
  }
  table.widths = fit(table.columns, available);
  return table;
}

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

// `place` is the line's among the cells of the columns.
void draw_row(const Area &area, const Look &look, const DeviceLine &line, std::size_t place, const Table &table) {
  int x = 0;
  const bool answers = line.device->state == DeviceState::ok;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto &column = table.columns[i];
    if (table.widths[i] == 0) continue;
    if (x > 0) x += column.fit.gap;
    if (!answers && i > 0 && !column.is_name) {
      const auto state = view::state_cell(*line.device);
      put_spans(area, x, 0, state.spans, look, area.columns() - x);
      return;
    }
    if (column.picture) {
      column.picture(area.part({x, 0, table.widths[i], 1}), line);
    } else {
      put_cell(area, x, 0, table.widths[i], column.cells[place], column.align, look);
    }
    x += table.widths[i];
  }
}

std::string heading_of(const DeviceColumn &column, int width, const DeviceOrder &order, bool unicode) {
  if (column.heading) return column.heading(width);
  const bool sorted = column.order && column.order->sorts_by(order) && order != DeviceOrder{};
  const auto mark = !sorted ? "" : order.descending ? (unicode ? "▼" : "v") : (unicode ? "▲" : "^");
  // The mark is worth more than the last letter of a title.
  return term::cut(column.title, width - term::width(mark), "") + mark;
}

void draw_heading(const Area &area, const DrawContext &context, const Table &table) {
  const auto &look = context.look;
  int x = 0;
  bool name_shown = table.name.empty() || look.frame.title;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto &column = table.columns[i];
    const int width = table.widths[i];
    if (width == 0) continue;
    if (x > 0) x += column.fit.gap;
    if (column.picture && !column.heading && !std::exchange(name_shown, true)) {
      area.put(x, 0, term::cut(table.name, width, look.style.ellipsis()), look.theme->strong);
    } else {
      const auto text = heading_of(column, width, context.settings.device_order, look.unicode());
      // The scale of a strip is no label.
      const auto &ink = column.heading ? look.theme->dim : look.theme->heading;
      area.put(x, 0, term::pad(term::cut(text, width, ""), width, column.align), ink);
    }
    if (column.order) {
      context.hits.push_back({area.part({x, 0, width, 1}).rect(), Hit::Kind::device_column, hit_value(*column.order)});
    }
    x += width;
  }
}

// Moves `first` so that the chosen line is one of the `seen` visible ones.
void scroll_to(std::size_t &first, std::optional<std::size_t> chosen, std::size_t seen, std::size_t all) {
  if (chosen && *chosen < first) first = *chosen;
  if (chosen && seen > 0 && *chosen >= first + seen) first = *chosen - seen + 1;
  first = std::min(first, all > seen ? all - seen : 0);
}

// "128 devices, 12 idle ones hidden, by user"
std::string note_of(const DeviceList &list, const Table &table, const Settings &settings) {
  std::string note = !table.name.empty() ? table.name
                     : list.devices > 1  ? fmt::format("{} devices", list.devices)
                                         : std::string();
  const auto add = [&](const std::string &words) { note += (note.empty() ? "" : ", ") + words; };
  if (list.hidden > 0) add(fmt::format("{} idle hidden", list.hidden));
  if (settings.device_groups != DeviceGroups::off) add(fmt::format("by {}", word(settings.device_groups)));
  return note;
}

// All lines but the heading; those of the list can be scrolled.
class Body {
 public:
  Body(const DrawContext &context, const DeviceList &list, const Table &table)
      : context_(context),
        list_(list),
        table_(table),
        ordered_(view::ordered_devices(context.snapshot)),
        left_over_(view::ranked_metrics(Scope::device)) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.widths[i] > 0 && table.columns[i].metric) std::erase(left_over_, *table.columns[i].metric);
    }
  }

  std::optional<std::size_t> chosen() const {
    const auto at = std::ranges::find_if(
        list_.lines, [&](const DeviceLine &line) { return !line.is_total() && context_.device == line.device->id; });
    return at == list_.lines.end() ? std::nullopt : std::optional<std::size_t>(at - list_.lines.begin());
  }

  void draw(const Area &area, std::size_t first) const {
    const auto at = chosen();
    int y = 0;
    for (std::size_t i = first; i < list_.lines.size() && y < area.rows(); ++i) {
      y += draw_line(area.part({0, y, area.columns(), 2}), i, at == i);
    }
  }

 private:
  int draw_line(const Area &area, std::size_t place, bool chosen) const {
    const auto &look = context_.look;
    const auto &line = list_.lines[place];
    const auto &device = *line.device;
    draw_row(area.row(0), look, line, place, table_);
    if (line.is_total()) return 1;
    const int rows = look.two_lines && !device.is_instance() ? 2 : 1;
    if (rows == 2 && device.state == DeviceState::ok && area.rows() == 2) {
      draw_second_line(area.row(1), look, device, left_over_);
    }
    const auto drawn = area.part({0, 0, area.columns(), rows});
    if (chosen) drawn.highlight(look.theme->selected, look.theme->selected_attributes);
    const auto number = std::ranges::find(ordered_, &device) - ordered_.begin();
    context_.hits.push_back({drawn.rect(), Hit::Kind::device, static_cast<std::size_t>(number)});
    return rows;
  }

  const DrawContext &context_;
  const DeviceList &list_;
  const Table &table_;
  std::vector<const Device *> ordered_;
  std::vector<MetricId> left_over_;
};

std::string absence(const DeviceList &list, const Snapshot &snapshot) {
  if (list.hidden == 0) return std::string(absence_words(snapshot));
  return fmt::format("{} GPU{} idle and hidden", list.hidden, list.hidden == 1 ? " is" : "s are");
}

}  // namespace

// With few devices the total must not take the line of one of them.
bool shows_total(const DeviceList &list, int rows) {
  constexpr std::size_t kFew = 16;
  constexpr int kLeastRows = 5;
  if (list.all.empty()) return false;
  return list.lines.size() > kFew ? rows >= kLeastRows : rows >= static_cast<int>(list.lines.size()) + 2;
}

int device_panel_rows(const DeviceList &list, bool two_lines) {
  if (list.lines.empty()) return 1;
  int rows = 1 + static_cast<int>(list.all.size());
  for (const auto &line : list.lines) rows += two_lines && !line.is_total() && !line.device->is_instance() ? 2 : 1;
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
  const auto list = list_devices(context.snapshot, context.settings);
  const auto size = inner_size(area, look);
  if (list.lines.empty()) {
    open_panel(area, look, "GPUs").put(0, 0, absence(list, context.snapshot), look.theme->warn);
    return;
  }
  const int heading = size.rows > 1 ? 1 : 0;
  const bool total = shows_total(list, size.rows);
  const int top = heading + (total ? 1 : 0);
  const auto seen = static_cast<std::size_t>(std::max(0, size.rows - top) / (look.two_lines ? 2 : 1));
  // The total is the last of the lines as columns see them.
  auto lines = list.lines;
  if (total) lines.push_back(list.all.front());
  const auto table = make_table(lines, context, beside_scrollbar(size.columns, seen, list.lines.size()));
  const auto inner = open_panel(area, look, "GPUs", note_of(list, table, context.settings));
  if (heading > 0) draw_heading(inner.row(0), context, table);
  if (total) draw_row(inner.row(heading), look, lines.back(), lines.size() - 1, table);
  const Body body(context, list, table);
  scroll_to(first, follow ? body.chosen() : std::nullopt, seen, list.lines.size());
  const auto rest = inner.part({0, top, inner.columns(), inner.rows() - top});
  body.draw(rest, first);
  draw_scrollbar(rest, look, first, seen, list.lines.size());
}

}  // namespace gpulse::tui
