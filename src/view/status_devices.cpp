// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "insight/notices.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"
#include "view/status_parts.hpp"

namespace gpulse::view {

using term::Align;
using term::Cell;
using term::Colour;
using term::Column;
using term::Span;
using term::Style;

namespace {

using Devices = std::vector<const Device *>;

// A column of the table and what stands in it for a device.
struct Field {
  Column column;
  std::function<Cell(const Device &)> cell;
  std::optional<MetricId> extra = std::nullopt;  // set for those that come and go with the width
};

bool any_value(const Devices &devices, MetricId id) {
  return std::any_of(devices.begin(), devices.end(), [&](const Device *device) { return device->row[id].has_value(); });
}

// Instances lack much of what their parent has: only where no device can tell is the column not worth its place.
bool worth_a_column(const Devices &devices, Role role) {
  const auto id = find_role(Scope::device, role);
  return id && std::any_of(devices.begin(), devices.end(),
                           [&](const Device *device) { return !device->row[*id].is(Reason::not_supported); });
}

Cell memory_bar(const Device &device) {
  const double share = memory_share(device);
  if (share < 0) return {};
  Cell cell;
  cell.bar = share;
  cell.bar_colour = memory_colour(share);
  return cell;
}

constexpr int kPercentColumns = 4;  // "100%"

// What the memory and power columns take when everything is used to the full.
int widest_share(const Devices &devices) {
  int widest = 0;
  for (const auto *device : devices) {
    const auto total = by_role(device->row, Role::memory_total);
    if (total) widest = std::max(widest, term::width(short_share(total.value(), total.value())));
  }
  return widest;
}
int widest_power(const Devices &devices) {
  int widest = 0;
  for (const auto *device : devices) {
    const auto limit = by_role(device->row, Role::power_limit);
    if (limit) widest = std::max(widest, term::width(fmt::format("{0:.0f}/{0:.0f}W", limit.value())));
  }
  return widest;
}

std::vector<Field> main_fields(const Devices &devices, const Style &style) {
  std::vector<Field> fields{
      {{.title = "GPU", .align = Align::right}, [](const Device &d) { return Cell(text(d.id)); }},
      {{.title = "NAME", .gap = 2, .min = 6, .cap = 24},
       [&style](const Device &d) { return Cell(device_name(d, style), Colour::bold); }},
      {{.title = std::string(label_of(Scope::device, Role::utilization)), .align = Align::right, .gap = 2, .keep = 900},
       [&style](const Device &d) { return role_cell(style, d.row, Role::utilization); }}};
  if (worth_a_column(devices, Role::true_activity)) {
    fields.push_back({{.title = std::string(label_of(Scope::device, Role::true_activity)),
                       .align = Align::right,
                       .floor = kPercentColumns,
                       .keep = 800},
                      [&style](const Device &d) { return activity_cell(style, d); }});
  }
  if (std::any_of(devices.begin(), devices.end(), [](const Device *d) { return memory_share(*d) >= 0; })) {
    fields.push_back({{.title = "MEMORY", .gap = 2, .min = 6, .cap = 10, .grow_to = 24, .keep = 300},
                      [](const Device &d) { return memory_bar(d); }});
  }
  fields.push_back({{.title = std::string(label_of(Scope::device, Role::memory_used)),
                     .align = Align::right,
                     .gap = 2,
                     .floor = widest_share(devices),
                     .keep = 700},
                    [&style](const Device &d) { return memory_cell(style, d); }});
  fields.push_back({{.title = "POWER", .align = Align::right, .gap = 2, .floor = widest_power(devices), .keep = 500},
                    [&style](const Device &d) { return power_cell(style, d); }});
  fields.push_back(
      {{.title = std::string(label_of(Scope::device, Role::temperature)), .align = Align::right, .gap = 2, .keep = 600},
       [&style](const Device &d) { return role_cell(style, d.row, Role::temperature); }});
  return fields;
}

std::vector<Field> device_fields(const Devices &devices, const Style &style, bool details) {
  auto fields = main_fields(devices, style);
  for (const auto id : ranked_metrics(Scope::device)) {
    if (!any_value(devices, id)) continue;
    fields.push_back({{.title = std::string(describe(id).label),
                       .align = Align::right,
                       .gap = 2,
                       .floor = describe(id).unit == Unit::percent ? kPercentColumns : 0,
                       .keep = Column::kSpare - describe(id).rank},
                      [&style, id](const Device &d) { return value_cell(style, describe(id), d.row[id]); },
                      id});
  }
  const bool any_finding = !details && std::any_of(devices.begin(), devices.end(),
                                                   [](const Device *d) { return !insight::notices(*d).empty(); });
  if (any_finding) {
    fields.push_back({{.title = "LOOK AT", .gap = 2, .min = 7, .cap = 22, .keep = 400},
                      [&style](const Device &d) { return notices_cell(style, d); }});
  }
  return fields;
}

// "! hw thermal  GCLK 1980MHz  TENS 41%": what to look at, then what found no column, as far as it fits.
std::string detail_line(const Style &style, const Device &device, const std::vector<MetricId> &ids) {
  constexpr int kIndent = 5;
  std::vector<Span> spans{{std::string(kIndent, ' '), Colour::plain}};
  int used = kIndent;
  const auto add = [&](std::vector<Span> more) {
    for (auto &span : more) {
      used += term::width(span.text);
      spans.push_back(std::move(span));
    }
  };
  if (auto found = notices_cell(style, device).spans; !found.empty()) {
    add({{"! ", found.front().colour}});
    add(std::move(found));
  }
  for (const auto id : ids) {
    const auto &reading = device.row[id];
    const auto &metric = describe(id);
    if (!reading || threshold_colour(metric, reading.value()) != Colour::plain) continue;
    const auto value = value_cell(style, metric, reading).spans.front();
    const std::string name = fmt::format("{}{} ", used > kIndent ? "  " : "", metric.label);
    if (used + term::width(name) + term::width(value.text) > style.width) continue;
    add({{name, Colour::dim}, value});
  }
  return used == kIndent ? std::string() : term::line(style, spans);
}

}  // namespace

void add_device_needs(MetricSet &set) {
  set.add_roles(Scope::device, {Role::utilization, Role::true_activity, Role::memory_used, Role::memory_total,
                                Role::power, Role::power_limit, Role::temperature});
  set.add(ranked_metrics(Scope::device));
  set.add(insight::watched_metrics());
}

Lines device_lines(const Snapshot &snapshot, const Style &style, bool details) {
  const auto devices = ordered_devices(snapshot);
  const auto fields = device_fields(devices, style, details);
  std::vector<Column> columns;
  for (const auto &field : fields) columns.push_back(field.column);
  term::Table table(columns);
  for (const auto *device : devices) {
    std::vector<Cell> cells;
    const bool answers = device->state == DeviceState::ok;
    for (std::size_t i = 0; i < (answers ? fields.size() : 2); ++i) cells.push_back(fields[i].cell(*device));
    answers ? table.add(std::move(cells)) : table.add(std::move(cells), state_cell(*device));
  }
  Lines rows = table.lines(style);
  if (!details) return rows;

  std::vector<MetricId> left_over = ranked_metrics(Scope::device);
  const auto kept = table.kept(style);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (kept[i] && fields[i].extra) std::erase(left_over, *fields[i].extra);
  }
  Lines lines{rows.front()};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    lines.push_back(rows[i + 1]);
    if (devices[i]->state != DeviceState::ok || devices[i]->is_instance()) continue;
    if (auto second = detail_line(style, *devices[i], left_over); !second.empty()) lines.push_back(std::move(second));
  }
  return lines;
}

}  // namespace gpulse::view
