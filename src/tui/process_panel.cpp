// SPDX-License-Identifier: Apache-2.0
#include "tui/process_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "view/cell.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

using term::Align;
using term::Area;
using term::Cell;
using term::Colour;

namespace {

using Kind = ProcessColumn::Kind;

bool is_command(const ProcessColumn &column) {
  return column.kind == Kind::metric && describe(column.metric).role == Role::command;
}

Align align_of(const ProcessColumn &column) {
  const bool left = column.kind == Kind::type || column.kind == Kind::owner ||
                    (column.kind == Kind::metric && is_text(describe(column.metric)));
  return left ? Align::left : Align::right;
}

// "0-3,6"
std::string device_list(const std::vector<DeviceId> &devices) {
  const auto follows = [](const DeviceId &next, const DeviceId &id) {
    return !id.instance && next == DeviceId{id.index + 1};
  };
  std::string text;
  for (std::size_t i = 0; i < devices.size();) {
    std::size_t last = i;
    while (last + 1 < devices.size() && follows(devices[last + 1], devices[last])) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", gpulse::text(devices[i]));
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? "," : "-", gpulse::text(devices[last]));
    i = last + 1;
  }
  return text;
}

Cell row_cell(const ProcessColumn &column, const ListRow &row, const Look &look) {
  if (row.kind == ListRow::Kind::total) {
    if (column.kind == Kind::device) return device_list(row.devices);
    if (column.kind == Kind::pid) return fmt::format("{}x", row.count);
    if (is_command(column)) return {fmt::format("{} process{}", row.count, row.count == 1 ? "" : "es"), Colour::dim};
  }
  const bool no_gpu = row.kind == ListRow::Kind::parent || row.kind == ListRow::Kind::child;
  if (no_gpu && (column.kind == Kind::device || column.kind == Kind::type)) return {};
  auto cell = tui::cell(column, *row.process, look.style);
  if (row.kind == ListRow::Kind::parent && !is_command(column) && column.kind != Kind::pid) return {};
  if (is_command(column) && !row.guide.empty()) {
    cell.spans.insert(cell.spans.begin(), {row.guide, Colour::dim});
  }
  if (row.kind == ListRow::Kind::child && cell.spans.size() == 1 && cell.spans[0].text == look.style.dash()) return {};
  if (row.kind == ListRow::Kind::parent) {
    for (auto &span : cell.spans) span.colour = Colour::dim;
  }
  return cell;
}

// An engine that nobody uses. That no process works on the GPU, or on a CPU, is worth a column.
bool is_zero_for_all(const ProcessColumn &column, const ProcessList &list) {
  if (column.kind != Kind::metric) return false;
  const auto &metric = describe(column.metric);
  if (metric.unit != Unit::percent || metric.role == Role::utilization || metric.role == Role::cpu) return false;
  return std::ranges::none_of(list.rows,
                              [&](const ListRow &row) { return row.process->row[column.metric].value_or(0) > 0; });
}

// Where there is no room for all columns, the first ones stay; PID, GPU and command longest of all. Those that are zero
// for everyone go before the commands are cut short.
term::FitColumn fit_of(const ProcessColumn &column, int width, std::size_t place, bool spare) {
  constexpr int kMost = 1000, kCommand = 24;
  term::FitColumn fit{.width = width, .keep = kMost - 10 * static_cast<int>(place), .gap = 1};
  if (column.kind == Kind::pid || column.kind == Kind::device) fit.keep = 2 * kMost;
  if (spare) fit.keep = 0;
  if (is_command(column)) return {.width = kCommand, .min = 8, .max = 10'000, .keep = kMost + 1, .gap = 1};
  if (column.kind == Kind::owner || (column.kind == Kind::metric && is_text(describe(column.metric)))) {
    fit.width = std::min(width, 20);
    fit.min = std::min(fit.width, 6);
  }
  return fit;
}

struct Grid {
  std::vector<ProcessColumn> columns;
  std::vector<int> widths;
  std::size_t first = 0;                 // row of the first cells
  std::vector<std::vector<Cell>> cells;  // by column, for the visible rows
};

Grid make_grid(const DrawContext &context, ProcessTable &table, int available) {
  const auto &rows = table.list.rows;
  Grid grid{.columns = shown_columns(table.list, context.settings), .widths = {}, .first = table.first, .cells = {}};
  std::vector<term::FitColumn> wanted;
  const auto last = std::min(rows.size(), table.first + static_cast<std::size_t>(table.page) + 1);
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    const auto &column = grid.columns[i];
    const bool percent = column.kind == Kind::metric && describe(column.metric).unit == Unit::percent;
    int &width = table.widths[key(column)];
    width = std::max({width, term::width(label(column)) + (column == context.settings.sort ? 1 : 0), percent ? 4 : 0});
    auto &cells = grid.cells.emplace_back();
    cells.reserve(last - table.first);
    for (std::size_t row = table.first; row < last; ++row) {
      cells.push_back(row_cell(column, rows[row], context.look));
      if (!is_command(column)) width = std::max(width, term::width(cells.back().spans));
    }
    const bool spare = column != context.settings.sort && is_zero_for_all(column, table.list);
    wanted.push_back(fit_of(column, width, i, spare));
  }
  grid.widths = term::fit_columns(wanted, available, kPanelFit);
  return grid;
}

void draw_heading(const Area &area, const DrawContext &context, const Grid &grid) {
  int x = 0;
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    if (grid.widths[i] == 0) continue;
    if (x > 0) ++x;
    const auto &column = grid.columns[i];
    const bool sorted = column == context.settings.sort;
    std::string title(label(column));
    if (sorted)
      title += context.look.unicode() ? (context.settings.descending ? "▼" : "▲")
                                      : (context.settings.descending ? "v" : "^");
    const auto text = term::pad(term::cut(title, grid.widths[i], ""), grid.widths[i], align_of(column));
    area.put(x, 0, text, sorted ? context.look.theme->title : context.look.theme->heading);
    context.hits.push_back({area.part({x, 0, grid.widths[i], 1}).rect(), Hit::Kind::column, i});
    x += grid.widths[i];
  }
}

// Removes the start of a scrolled command, but not the tree before it.
Cell shifted(Cell cell, int shift, std::size_t first) {
  for (std::size_t i = first; i < cell.spans.size() && shift > 0; ++i) {
    const int width = term::width(cell.spans[i].text);
    const auto kept = term::cut(cell.spans[i].text, shift, "");
    cell.spans[i].text.erase(0, kept.size());
    shift -= width;
  }
  return cell;
}

void draw_row(const Area &area, const DrawContext &context, const Grid &grid, const ListRow &row, std::size_t place,
              const ProcessTable &table) {
  int x = 0;
  const bool tagged = row.kind == ListRow::Kind::process && table.tagged.contains(row.process->pid);
  const bool on_chosen = row.kind == ListRow::Kind::process && context.device == row.process->device;
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    if (grid.widths[i] == 0) continue;
    if (x > 0) ++x;
    const auto &column = grid.columns[i];
    const auto &cell = grid.cells[i][place - grid.first];
    const bool moved = is_command(column) && table.shift > 0;
    put_cell(area, x, 0, grid.widths[i], moved ? shifted(cell, table.shift, row.guide.empty() ? 0 : 1) : cell,
             align_of(column), context.look);
    if (on_chosen && column.kind == Kind::device) {
      area.put(x, 0, term::pad(text(row.process->device), grid.widths[i], Align::right), context.look.theme->title);
    }
    if (tagged && column.kind == Kind::pid) {
      area.put(x, 0, term::pad(fmt::format("{}", row.process->pid), grid.widths[i], Align::right),
               context.look.theme->tagged);
    }
    x += grid.widths[i];
  }
}

void scroll(ProcessTable &table) {
  const auto page = static_cast<std::size_t>(std::max(1, table.page));
  const auto rows = table.list.rows.size();
  const bool to_chosen = std::exchange(table.scroll_to_chosen, false) || table.follow;
  if (to_chosen && table.chosen_row) {
    if (*table.chosen_row < table.first) table.first = *table.chosen_row;
    if (*table.chosen_row >= table.first + page) table.first = *table.chosen_row - page + 1;
  }
  table.first = std::min(table.first, rows > page ? rows - page : 0);
}

}  // namespace

std::vector<ProcessColumn> shown_columns(const ProcessList &list, const Settings &settings) {
  std::vector<ProcessColumn> columns;
  for (const auto &column : settings.columns) {
    const auto has_value = [&](const ListRow &row) {
      if (column.kind == Kind::owner) return view::has_owner(*row.process);
      if (column.kind != Kind::metric) return true;
      if (is_text(describe(column.metric))) return true;
      return !row.process->row[column.metric].is(Reason::not_supported);
    };
    if (list.rows.empty() ? column.kind != Kind::owner : std::ranges::any_of(list.rows, has_value))
      columns.push_back(column);
  }
  return columns;
}

void draw_processes(const Area &area, const DrawContext &context, ProcessTable &table) {
  const auto &look = context.look;
  const auto &rows = table.list.rows;
  const auto hidden = table.list.hidden;
  const auto inner = open_panel(area, look, "Processes", table.note(context.settings, look.unicode()));
  table.page = std::max(1, inner.rows() - 1);
  scroll(table);
  const auto page = static_cast<std::size_t>(table.page);
  const auto grid = make_grid(context, table, beside_scrollbar(inner.columns(), page, rows.size()));
  draw_heading(inner.row(0), context, grid);
  if (rows.empty()) {
    const auto none = knows_processes(context.snapshot) ? "no GPU processes" : "GPU processes unknown";
    inner.put(0, 1, hidden > 0 ? fmt::format("none of {} processes matches", hidden) : none, look.theme->dim);
    return;
  }
  for (int y = 1; y < inner.rows(); ++y) {
    const auto at = table.first + static_cast<std::size_t>(y - 1);
    if (at >= rows.size()) break;
    const auto line = inner.row(y);
    draw_row(line, context, grid, rows[at], at, table);
    if (table.chosen_row == at) line.highlight(look.theme->selected, look.theme->selected_attributes);
    context.hits.push_back({line.rect(), Hit::Kind::process, at});
  }
  draw_scrollbar(inner.part({0, 1, inner.columns(), inner.rows() - 1}), look, table.first, page, rows.size());
}

}  // namespace gpulse::tui
