// SPDX-License-Identifier: Apache-2.0
#include "tui/host_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "term/plot.hpp"
#include "view/cell.hpp"
#include "view/status_parts.hpp"

namespace gpulse::tui {

using term::Area;

namespace {

constexpr int kMostCoreRows = 3;

struct Meter {
  std::string_view title;
  double share = 0;
  std::string text;
  term::Colour colour = term::Colour::good;
};

std::vector<Meter> meters(const Row &host) {
  std::vector<Meter> all;
  if (const auto cpu = view::by_role(host, Role::cpu)) {
    const auto cores = view::by_role(host, Role::cpu_count);
    auto text = fixed(cpu.value(), 0) + '%';
    if (cores) text += " of " + fixed(cores.value(), 0);
    all.push_back({"CPU", cpu.value() / 100, std::move(text)});
  }
  const auto add = [&](std::string_view title, Role part, Role whole) {
    const auto used = view::by_role(host, part);
    const auto total = view::by_role(host, whole);
    if (!used || !total || total.value() <= 0) return;
    const double share = used.value() / total.value();
    all.push_back({title, share, view::short_share(used.value(), total.value()), view::memory_colour(share)});
  };
  add("MEM", Role::host_memory, Role::host_memory_total);
  add("SWAP", Role::swap, Role::swap_total);
  return all;
}

int draw_meters(const Area &area, const Look &look, const Row &host) {
  const auto all = meters(host);
  if (all.empty()) return 0;
  const int count = static_cast<int>(all.size());
  for (int i = 0; i < count; ++i) {
    const auto &meter = all[static_cast<std::size_t>(i)];
    const int left = area.columns() * i / count;
    const int width = area.columns() * (i + 1) / count - left - (i + 1 < count ? 2 : 0);
    const auto part = area.part({left, 0, width, 1});
    const int name = part.put(0, 0, meter.title, look.theme->dim) + 1;
    const int text = term::width(meter.text);
    part.put(width - text, 0, meter.text, look.theme->text);
    term::draw_meter(part.part({name, 0, width - name - text - 1, 1}), meter.share, look.ink(meter.colour),
                     look.theme->border, look.unicode());
  }
  return 1;
}

// A block per core, whose height is its load.
void draw_cores(const Area &area, const DrawContext &context) {
  const auto &look = context.look;
  const auto &cores = context.snapshot.cores;
  constexpr auto kUse = role_metric<Scope::core>(Role::cpu);
  const int name = area.put(0, 0, "CORES ", look.theme->dim);
  const int across = std::max(1, area.columns() - name);
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const int x = name + static_cast<int>(i) % across;
    const int y = static_cast<int>(i) / across;
    if (y >= area.rows()) break;
    const auto &reading = cores[i].row[kUse];
    const auto value = reading ? static_cast<float>(reading.value()) : term::kGap;
    const auto colour = reading ? view::load_colour(reading.value()) : term::Colour::dim;
    term::draw_sparkline(area.part({x, y, 1, 1}), std::span(&value, 1), 0, 100, look.ink(colour), look.unicode());
  }
}

int core_rows(const Snapshot &snapshot, int columns) {
  constexpr int kName = 6;
  const int across = std::max(1, columns - kName);
  const int wanted = (static_cast<int>(snapshot.cores.size()) + across - 1) / across;
  return std::min(wanted, kMostCoreRows);
}

bool in_meter(Role role) {
  constexpr std::array kRoles{Role::cpu,  Role::cpu_count, Role::host_memory, Role::host_memory_total,
                              Role::swap, Role::swap_total};
  return std::ranges::find(kRoles, role) != kRoles.end();
}

// In the order in which people look for them: what is beyond its threshold, load, disks and network, which keep their
// places, heat and power, then whatever else is not zero.
std::vector<MetricId> ordered_readings(const Row &host) {
  constexpr std::array kFirst{Role::load,        Role::disk_read,   Role::disk_write, Role::network_in,
                              Role::network_out, Role::temperature, Role::power};
  std::vector<MetricId> ids;
  const auto add = [&](MetricId id) {
    const auto &metric = describe(id);
    const bool shown = !is_text(metric) && !in_meter(metric.role) && metric.role != Role::idle && host[id];
    if (shown && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for_each_metric(Scope::host, [&](MetricId id, const Metric &metric) {
    if (host[id] && view::threshold_colour(metric, host[id].value()) != term::Colour::plain) add(id);
  });
  for (const auto role : kFirst) {
    if (const auto id = find_role(Scope::host, role)) add(*id);
  }
  for_each_metric(Scope::host, [&](MetricId id, const Metric &metric) {
    const double least = 0.5 * std::pow(10, -metric.precision);  // what is not written as a zero
    if (host[id] && host[id].value() >= (metric.unit == Unit::percent ? 0.5 : least)) add(id);
  });
  return ids;
}

struct PlacedReading {
  int x, y;
  std::string_view label;
  term::Span value;
};

// Places all readings that have no meter, wrapping lines at `columns`.
std::vector<PlacedReading> place_readings(const Row &host, const term::Style &style, int columns) {
  std::vector<PlacedReading> placed;
  int x = 0;
  int y = 0;
  for (const auto id : ordered_readings(host)) {
    const auto &metric = describe(id);
    const auto cell = metric.unit == Unit::none ? term::Cell(fixed(host[id].value(), metric.precision))
                                                : view::value_cell(style, metric, host[id]);
    const int width = term::width(metric.label) + 1 + term::width(cell.spans.front().text);
    if (x > 0 && x + width > columns) {
      x = 0;
      ++y;
    }
    placed.push_back({x, y, metric.label, cell.spans.front()});
    x += width + 2;
  }
  return placed;
}

void draw_readings(const Area &area, const DrawContext &context) {
  for (const auto &[x, y, name, value] : place_readings(context.snapshot.host, context.look.style, area.columns())) {
    const int used = area.put(x, y, name, context.look.theme->dim);
    area.put(x + used + 1, y, value.text, context.look.ink(value.colour));
  }
}

}  // namespace

int host_panel_rows(const Snapshot &snapshot, int columns) {
  constexpr int kMostReadingRows = 2;
  const auto placed = place_readings(snapshot.host, {}, columns);
  const int readings = placed.empty() ? 0 : std::min(kMostReadingRows, placed.back().y + 1);
  return std::max(1, (meters(snapshot.host).empty() ? 0 : 1) + core_rows(snapshot, columns) + readings);
}

void draw_host(const Area &area, const DrawContext &context) {
  const auto inner = open_panel(area, context.look, "Host");
  if (inner.rows() <= 1) {
    put_spans(inner, 0, 0, view::host_spans(context.snapshot, context.look.style, inner.columns()), context.look,
              inner.columns());
    return;
  }
  int y = draw_meters(inner.row(0), context.look, context.snapshot.host);
  // A line of readings comes before the cores.
  const int cores = std::clamp(inner.rows() - y - 1, 0, core_rows(context.snapshot, inner.columns()));
  if (cores > 0) draw_cores(inner.part({0, y, inner.columns(), cores}), context);
  y += cores;
  if (y < inner.rows()) draw_readings(inner.part({0, y, inner.columns(), inner.rows() - y}), context);
}

}  // namespace gpulse::tui
