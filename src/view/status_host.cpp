// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/cell.hpp"
#include "view/status_parts.hpp"

namespace gpulse::view {

using term::Colour;
using term::Span;
using term::Style;

namespace {

// Pieces of the line, each a dim word and its values; those that do not fit are left out, the last ones first.
class Pieces {
 public:
  explicit Pieces(int columns) : columns_(columns) {}

  void add(std::string_view name, std::vector<Span> values) {
    int columns = term::width(name) + 1 + (spans_.empty() ? 0 : 2);
    for (const auto &value : values) columns += term::width(value.text);
    if (!spans_.empty() && used_ + columns > columns_) return;
    used_ += columns;
    spans_.push_back({fmt::format("{}{} ", spans_.empty() ? "" : "  ", name), Colour::dim});
    for (auto &value : values) spans_.push_back(std::move(value));
  }
  std::vector<Span> take() { return std::move(spans_); }

 private:
  int columns_;
  std::vector<Span> spans_;
  int used_ = 0;
};

std::vector<Span> cpu(const Style &style, const Row &host) {
  std::vector<Span> spans = role_cell(style, host, Role::cpu).spans;
  if (const auto cores = by_role(host, Role::cpu_count)) {
    spans.push_back({fmt::format(" of {:.0f}", cores.value()), Colour::plain});
  }
  return spans;
}

std::vector<Span> share(const Style &style, const Row &host, Role part, Role whole) {
  const auto used = by_role(host, part);
  const auto total = by_role(host, whole);
  if (!used) return missing_cell(style).spans;
  return {{total ? short_share(used.value(), total.value()) : short_bytes(used.value()), Colour::plain}};
}

// "r1.2G w2.4M/s"
std::vector<Span> rates(const Style &style, const Row &host, std::string_view in, Role first, std::string_view out,
                        Role second) {
  const auto text = [&](Role role) {
    const auto rate = by_role(host, role);
    return rate ? short_bytes(rate.value()) : std::string(style.dash());
  };
  return {{fmt::format("{}{} {}{}/s", in, text(first), out, text(second)), Colour::plain}};
}

}  // namespace

std::vector<Span> host_spans(const Snapshot &snapshot, const Style &style, int width) {
  const auto &host = snapshot.host;
  // A machine that never tells, as one in a trace, need not be shown dashes for it.
  const auto tells = [&](Role role) { return !by_role(host, role).is(Reason::not_supported); };
  Pieces pieces(width);
  pieces.add("CPU", cpu(style, host));
  if (tells(Role::load)) pieces.add("load", role_cell(style, host, Role::load).spans);
  if (tells(Role::host_memory)) pieces.add("mem", share(style, host, Role::host_memory, Role::host_memory_total));
  // What has crossed its threshold comes before what is merely good to know.
  for_each_metric(Scope::host, [&](MetricId id, const Metric &metric) {
    if (is_text(metric) || !host[id] || threshold_colour(metric, host[id].value()) == Colour::plain) return;
    pieces.add(metric.label, value_cell(style, metric, host[id]).spans);
  });
  if (by_role(host, Role::swap).value_or(0) > 0) pieces.add("swap", share(style, host, Role::swap, Role::swap_total));
  if (tells(Role::disk_read)) pieces.add("disk", rates(style, host, "r", Role::disk_read, "w", Role::disk_write));
  if (tells(Role::network_in)) {
    pieces.add("net", style.unicode ? rates(style, host, "↓", Role::network_in, "↑", Role::network_out)
                                    : rates(style, host, "in ", Role::network_in, "out ", Role::network_out));
  }
  for (const auto &[name, role] : {std::pair("temp", Role::temperature), std::pair("power", Role::power)}) {
    const auto reading = by_role(host, role);
    const auto id = find_role(Scope::host, role);
    // What has crossed its threshold stands there already.
    if (!id || !reading || threshold_colour(describe(*id), reading.value()) != Colour::plain) continue;
    pieces.add(name, value_cell(style, describe(*id), reading).spans);
  }
  return pieces.take();
}

void add_host_needs(MetricSet &set) {
  set.add_roles(Scope::host, {Role::cpu, Role::cpu_count, Role::load, Role::host_memory, Role::host_memory_total,
                              Role::swap, Role::swap_total, Role::disk_read, Role::disk_write, Role::network_in,
                              Role::network_out, Role::temperature, Role::power});
  for_each_metric(Scope::host, [&](MetricId id, const Metric &metric) {
    if (std::isfinite(std::min(metric.warn, metric.bad))) set.add(id);
  });
}

std::string host_line(const Snapshot &snapshot, const Style &style) {
  return term::line(style, host_spans(snapshot, style, style.width));
}

}  // namespace gpulse::view
