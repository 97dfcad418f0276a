// SPDX-License-Identifier: Apache-2.0
#include "tui/device_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "insight/notices.hpp"
#include "term/plot.hpp"
#include "tui/device_panel.hpp"
#include "tui/time_grid.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"

namespace gpulse::tui {

using term::Align;
using term::Area;
using term::Cell;
using term::Colour;

namespace {

constexpr int kMust = 1000;

bool any(const DeviceLines &lines, Role role) {
  const auto id = find_role(Scope::device, role);
  return id && std::ranges::any_of(
                   lines, [&](const DeviceLine &line) { return !line.device->row[*id].is(Reason::not_supported); });
}

bool any_value(const DeviceLines &lines, MetricId id) {
  return std::ranges::any_of(lines, [&](const DeviceLine &line) { return line.device->row[id].has_value(); });
}

std::string title_of(Role role) { return std::string(view::label_of(Scope::device, role)); }

int full_memory(const DeviceLines &lines) {
  int width = 0;
  for (const auto &line : lines) {
    const auto total = view::by_role(line.device->row, Role::memory_total);
    if (total) width = std::max(width, term::width(view::short_share(total.value(), total.value())));
  }
  return width;
}

int full_power(const DeviceLines &lines) {
  int width = 0;
  for (const auto &line : lines) {
    const auto limit = view::by_role(line.device->row, Role::power_limit);
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

DeviceOrder by_metric(MetricId id) { return {DeviceOrder::Kind::metric, id, true}; }

DeviceOrder by_role(Role role) {
  const auto id = find_role(Scope::device, role);
  return id ? by_metric(*id) : DeviceOrder{};
}

// What a strip of that width says of itself, as far as there is room: "-24s  0-100%  now".
std::string strip_heading(int columns, std::chrono::nanoseconds span) {
  auto oldest = "-" + span_text(span);
  const int room = columns - term::width(oldest);
  for (const std::string_view rest : {"  0-100%  now", " 0-100%", " 100%"}) {
    if (term::width(rest) <= room) return oldest + term::pad(rest, room, Align::right);
  }
  return oldest;
}

class Columns {
 public:
  Columns(const DeviceLines &lines, const DrawContext &context)
      : lines_(lines), context_(context), look_(context.look) {}

  std::vector<DeviceColumn> all(bool two_lines) {
    number();
    name();
    activity();
    memory();
    text("POWER", 720, [this](const Device &d) { return view::power_cell(look_.style, d); }, full_power(lines_));
    columns_.back().order = by_role(Role::power);
    text(
        title_of(Role::temperature), 730,
        [this](const Device &d) { return view::role_cell(look_.style, d.row, Role::temperature); }, 4);
    columns_.back().order = by_role(Role::temperature);
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

  // A total has the number of its devices there: "16x".
  void number() {
    auto &column = columns_.emplace_back(DeviceColumn{.title = "GPU", .fit = {.width = 3, .keep = kMust}});
    for (const auto &line : lines_) {
      column.cells.push_back(line.is_total() ? Cell(fmt::format("{}x", line.count), Colour::dim)
                                             : Cell(gpulse::text(line.device->id)));
      column.fit.width = std::max(column.fit.width, term::width(column.cells.back().spans));
    }
    column.order = DeviceOrder{};
  }

  void name() {
    auto &column = columns_.emplace_back(DeviceColumn{.title = "NAME", .fit = {.keep = kMust}, .align = Align::left});
    column.fit.width = term::width(column.title);
    for (const auto &line : lines_) {
      column.cells.push_back(line.is_total() ? Cell(term::clean(line.name, look_.unicode()), Colour::accent)
                                             : Cell(view::device_name(*line.device, look_.style), Colour::bold));
      column.fit.width = std::max(column.fit.width, term::width(column.cells.back().spans));
    }
    column.fit.width = std::min(column.fit.width, 24);
    column.fit.min = std::min(column.fit.width, 6);
    column.order = DeviceOrder{DeviceOrder::Kind::name};
    column.is_name = true;
  }

  void notices() {
    text("LOOK AT", 600, [this](const Device &d) { return view::notices_cell(look_.style, d); }, 7);
    auto &column = columns_.back();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].is_total()) column.cells[i] = {};
    }
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
    auto &column = columns_.emplace_back(DeviceColumn{.title = std::move(title), .fit = {.keep = keep}});
    column.fit.width = std::max(term::width(column.title), least);
    column.cells.reserve(lines_.size());
    for (const auto &line : lines_) {
      column.cells.push_back(cell(*line.device));
      column.fit.width = std::max(column.fit.width, term::width(column.cells.back().spans));
    }
  }

  void picture(term::FitColumn fit, std::function<void(const Area &, const DeviceLine &)> draw) {
    columns_.push_back({.title = "", .fit = fit, .align = Align::left, .picture = std::move(draw)});
  }

  void extra(MetricId id, int keep) {
    if (!any_value(lines_, id)) return;
    text(
        std::string(describe(id).label), keep,
        [this, id](const Device &d) { return view::value_cell(look_.style, describe(id), d.row[id]); },
        describe(id).unit == Unit::percent ? 4 : 0);
    columns_.back().metric = id;
    columns_.back().order = by_metric(id);
  }

  void activity() {
    constexpr auto kUse = role_metric<Scope::device>(Role::utilization);
    const bool used = any_value(lines_, kUse);
    if (used) {
      picture({.width = 10, .min = 6, .max = 30, .keep = 690},
              [&look = look_](const Area &area, const DeviceLine &line) {
                const auto reading = view::by_role(line.device->row, Role::utilization);
                if (reading) meter(area, look, reading.value() / 100, busy_colour(*line.device, reading.value()));
              });
    }
    text(
        title_of(Role::utilization), 900,
        [this](const Device &d) { return view::role_cell(look_.style, d.row, Role::utilization); }, 4);
    columns_.back().order = by_metric(kUse);
    if (used) history(kUse);
    if (any(lines_, Role::true_activity)) {
      text(
          title_of(Role::true_activity), 850, [this](const Device &d) { return view::activity_cell(look_.style, d); },
          4);
      columns_.back().order = by_role(Role::true_activity);
    }
    // Utilisation does not say how much of the device is at work; these do, so they stand beside it.
    for (const auto id : view::ranked_metrics(Scope::device)) {
      if (is_activity(id)) extra(id, 450 - describe(id).rank);
    }
  }

  // A strip of the past: a line, because areas of many devices at full load would be one block.
  void history(MetricId id) {
    const auto grid = std::make_shared<TimeGrid>(context_.history.times(), context_.number, 1);
    picture({.width = kSparkColumns, .min = 5, .max = kMostSparkColumns, .keep = 700},
            [id, grid, &context = context_](const Area &area, const DeviceLine &line) {
              if (line.is_total()) return;
              std::vector<float> room;
              const auto values = grid->dots(context.history.values({line.device->id, 0, id.index}), room);
              const term::Curve curve{values, context.look.theme->good, 100};
              term::draw_plot(area, std::span(&curve, 1), {.unicode = context.look.unicode()});
            });
    columns_.back().heading = [grid, unicode = look_.unicode()](int columns) {
      return strip_heading(columns, grid->dot() * term::plot_values(columns, unicode));
    };
  }

  void memory() {
    if (std::ranges::any_of(lines_, [](const DeviceLine &line) { return view::memory_share(*line.device) >= 0; })) {
      picture({.width = 8, .min = 5, .max = 20, .keep = 350, .gap = 2},
              [&look = look_](const Area &area, const DeviceLine &line) {
                const double share = view::memory_share(*line.device);
                meter(area, look, share, view::memory_colour(share));
              });
    }
    text("MEMORY", 800, [this](const Device &d) { return view::memory_cell(look_.style, d); }, full_memory(lines_));
    columns_.back().order = by_role(Role::memory_used);
  }

  const DeviceLines &lines_;
  const DrawContext &context_;
  const Look &look_;
  std::vector<DeviceColumn> columns_;
};

}  // namespace

std::vector<DeviceColumn> device_columns(const DeviceLines &lines, const DrawContext &context, bool two_lines) {
  return Columns(lines, context).all(two_lines);
}

std::size_t hit_value(const DeviceOrder &order) {
  return order.kind == DeviceOrder::Kind::metric ? order.metric.index + std::size_t{2}
                                                 : static_cast<std::size_t>(order.kind);
}

DeviceOrder order_of(std::size_t hit_value) {
  if (hit_value < 2) return {static_cast<DeviceOrder::Kind>(hit_value)};
  return {DeviceOrder::Kind::metric, MetricId{static_cast<std::uint16_t>(hit_value - 2)}, true};
}

std::string common_name(const DeviceLines &lines, const term::Style &style, bool counted) {
  std::string common;
  std::size_t count = 0;
  for (const auto &line : lines) {
    if (line.is_total()) continue;
    auto name = view::device_name(*line.device, style);
    if (count++ > 0 && name != common) return {};
    common = std::move(name);
  }
  if (count < 2) return {};
  return counted ? fmt::format("{} {} {}", count, style.unicode ? "×" : "x", common) : common;
}

void drop_common_words(DeviceColumn &names) {
  // Totals and instances are called differently.
  const auto is_own = [](const Cell &cell) { return cell.spans.front().colour == Colour::bold; };
  std::optional<std::string> common;
  for (const auto &cell : names.cells) {
    if (!is_own(cell)) continue;
    const auto &text = cell.spans.front().text;
    if (!common) common = text;
    const auto end = std::ranges::mismatch(*common, text).in1;
    common->erase(end, common->end());
  }
  if (!common) return;
  // Whole words, unless the whole name is the same.
  const auto is_same = [&](const Cell &cell) { return !is_own(cell) || cell.spans.front().text == *common; };
  const auto blank = common->rfind(' ');
  const auto length = std::ranges::all_of(names.cells, is_same) ? common->size()
                      : blank != std::string::npos              ? blank + 1
                                                                : 0;
  int width = term::width(names.title);
  for (auto &cell : names.cells) {
    if (is_own(cell)) cell.spans.front().text.erase(0, length);
    width = std::max(width, term::width(cell.spans));
  }
  names.fit.width = std::min(names.fit.width, width);
  names.fit.min = std::min(names.fit.min, names.fit.width);
}

}  // namespace gpulse::tui
