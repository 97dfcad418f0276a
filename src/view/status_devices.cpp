// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "metric/format.hpp"
#include "view/cell.hpp"
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

std::string name_of(const Device &device, const Style &style) {
  if (!device.identity) return std::string(style.dash());
  const auto &identity = *device.identity;
  if (!device.parent) return term::clean(short_name(identity), style.unicode);
  const auto name = identity.label.empty() ? short_name(identity) : identity.label;
  return (style.unicode ? "└ " : "- ") + term::clean(name, style.unicode);
}

std::string time_in_words(Seconds duration) {
  const double seconds = duration.count();
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

Cell state_cell(const Device &device) {
  std::string text(word(device.state));
  if (device.state_for.count() >= 1) text += " for " + time_in_words(device.state_for);
  return {text, device.state == DeviceState::asleep ? Colour::dim : Colour::bad};
}

Cell memory_bar(const Device &device) {
  const double share = memory_share(device);
  if (share < 0) return {};
  Cell cell;
  cell.bar = share;
  cell.bar_colour = memory_colour(share);
  return cell;
}

Cell memory_cell(const Style &style, const Device &device) {
  const auto used = by_role(device.row, Role::memory_used);
  const auto total = by_role(device.row, Role::memory_total);
  if (used && total) return short_share(used.value(), total.value());
  if (used) return short_bytes(used.value());
  if (!total) return missing_cell(style);
  Cell cell(std::string(style.dash()), Colour::dim);
  cell.spans.push_back({"/" + short_bytes(total.value())});
  return cell;
}

Cell power_cell(const Style &style, const Device &device) {
  const auto draw = by_role(device.row, Role::power);
  const auto limit = by_role(device.row, Role::power_limit);
  if (!draw && !limit) return missing_cell(style);
  Cell cell = draw ? Cell(fmt::format("{:.{}f}", draw.value(), draw.value() < 9.95 ? 1 : 0)) : missing_cell(style);
  cell.spans.push_back({limit ? fmt::format("/{:.0f}W", limit.value()) : "W", limit ? Colour::dim : Colour::plain});
  return cell;
}

// The reading the whole program is about: a device that claims to be busy while most of it is not stands out.
Cell activity_cell(const Style &style, const Device &device) {
  constexpr double kClaimsBusy = 50;
  Cell cell = role_cell(style, device.row, Role::true_activity);
  const auto claimed = by_role(device.row, Role::utilization);
  const auto active = by_role(device.row, Role::true_activity);
  if (claimed && active && claimed.value() >= kClaimsBusy && active.value() < claimed.value() / 2) {
    cell.spans.front().colour = Colour::warn;
  }
  return cell;
}

// What holds the device back, and every reading beyond its threshold that has no column of its own.
std::vector<Span> findings(const Style &style, const Device &device) {
  std::vector<Span> bad;
  std::vector<Span> warn;
  const auto add = [&](std::string text, bool is_bad) {
    (is_bad ? bad : warn).push_back({std::move(text), is_bad ? Colour::bad : Colour::warn});
  };
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (is_text(metric) || !device.row[id]) return;
    const double value = device.row[id].value();
    if (metric.kind == Kind::set) {
      const auto bits = value >= 0 && value < 9007199254740992.0 ? static_cast<std::uint64_t>(value) : 0;
      for (const auto &name : value_words(metric, static_cast<double>(bits & metric.grave))) add(name, true);
      for (const auto &name : value_words(metric, static_cast<double>(bits & ~metric.grave & ~metric.calm))) {
        add(name, false);
      }
    } else if (metric.role != Role::temperature && value >= std::min(metric.warn, metric.bad)) {
      add(fmt::format("{} {}", metric.label, short_value(style, metric, value)), value >= metric.bad);
    }
  });
  bad.insert(bad.end(), warn.begin(), warn.end());
  return bad;
}

Cell findings_cell(const Style &style, const Device &device) {
  Cell cell;
  for (auto &span : findings(style, device)) {
    if (!cell.spans.empty()) cell.spans.push_back({", ", Colour::dim});
    cell.spans.push_back(std::move(span));
  }
  return cell;
}

std::vector<MetricId> ranked_metrics() {
  std::vector<MetricId> ids;
  for_each_metric(Scope::device, [&](MetricId id, const Metric &metric) {
    if (metric.rank > 0) ids.push_back(id);
  });
  std::sort(ids.begin(), ids.end(), [](MetricId a, MetricId b) {
    return std::pair(describe(a).rank, a.index) < std::pair(describe(b).rank, b.index);
  });
  return ids;
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
      {{.title = "GPU", .align = Align::right}, [](const Device &d) { return Cell(fmt::format("{}", d.index)); }},
      {{.title = "NAME", .gap = 2, .min = 6, .cap = 24},
       [&style](const Device &d) { return Cell(name_of(d, style), Colour::bold); }},
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
  for (const auto id : ranked_metrics()) {
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
                                                   [&](const Device *d) { return !findings(style, *d).empty(); });
  if (any_finding) {
    fields.push_back({{.title = "LOOK AT", .gap = 2, .min = 7, .cap = 22, .keep = 400},
                      [&style](const Device &d) { return findings_cell(style, d); }});
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
  if (auto found = findings_cell(style, device).spans; !found.empty()) {
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

std::vector<const Device *> ordered_devices(const Snapshot &snapshot) {
  Devices devices;
  for (const auto &device : snapshot.devices) devices.push_back(&device);
  const auto known = [&](std::uint32_t index) {
    return std::any_of(devices.begin(), devices.end(), [&](const Device *d) { return d->index == index; });
  };
  const auto place = [&](const Device *device) {
    const bool instance = device->parent && known(*device->parent);
    return std::tuple(instance ? *device->parent : device->index, instance, device->index);
  };
  std::vector<std::pair<decltype(place(nullptr)), const Device *>> keyed;
  for (const auto *device : devices) keyed.emplace_back(place(device), device);
  std::sort(keyed.begin(), keyed.end());
  std::transform(keyed.begin(), keyed.end(), devices.begin(), [](const auto &pair) { return pair.second; });
  return devices;
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

  std::vector<MetricId> left_over = ranked_metrics();
  const auto kept = table.kept(style);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (kept[i] && fields[i].extra) std::erase(left_over, *fields[i].extra);
  }
  Lines lines{rows.front()};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    lines.push_back(rows[i + 1]);
    if (devices[i]->state != DeviceState::ok || devices[i]->parent) continue;
    if (auto second = detail_line(style, *devices[i], left_over); !second.empty()) lines.push_back(std::move(second));
  }
  return lines;
}

}  // namespace gpulse::view
