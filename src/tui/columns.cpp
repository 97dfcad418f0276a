// SPDX-License-Identifier: Apache-2.0
#include "tui/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "view/cell.hpp"
#include "view/device_cells.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

namespace {

using Kind = ProcessColumn::Kind;

struct FixedColumn {
  Kind kind;
  std::string_view key, label, help;
};
constexpr std::array kFixed{
    FixedColumn{Kind::device, "gpu", "GPU", "Number of the device it works on"},
    FixedColumn{Kind::pid, "pid", "PID", "Number of the process"},
    FixedColumn{Kind::type, "type", "T", "C compute, G graphics, M through MPS"},
    FixedColumn{Kind::owner, "owner", "JOB", "Its batch job, else its pod, else its container"},
};

const FixedColumn &fixed_column(Kind kind) { return kFixed[static_cast<std::size_t>(kind)]; }

int sign(double difference) { return difference < 0 ? -1 : (difference > 0 ? 1 : 0); }

int compare_texts(const std::string &a, const std::string &b, bool descending) {
  if (a.empty() || b.empty()) return static_cast<int>(a.empty()) - static_cast<int>(b.empty());
  return descending ? b.compare(a) : a.compare(b);
}

std::string owner_text(const Process &process) {
  for (const auto role : {Role::job, Role::pod, Role::container}) {
    const auto text = view::text_by_role(process.texts.get(), role);
    if (!text.empty()) return std::string(text);
  }
  return {};
}

std::string text_of(MetricId id, const Process &process) {
  return process.texts != nullptr ? (*process.texts)[id].value_or("") : std::string();
}

int compare_readings(const Reading &a, const Reading &b, bool descending) {
  if (!a || !b) return static_cast<int>(!a) - static_cast<int>(!b);
  return sign(descending ? b.value() - a.value() : a.value() - b.value());
}

}  // namespace

std::string_view key(const ProcessColumn &column) {
  return column.kind == Kind::metric ? describe(column.metric).key : fixed_column(column.kind).key;
}
std::string_view label(const ProcessColumn &column) {
  return column.kind == Kind::metric ? describe(column.metric).label : fixed_column(column.kind).label;
}
std::string_view help(const ProcessColumn &column) {
  return column.kind == Kind::metric ? describe(column.metric).help : fixed_column(column.kind).help;
}

std::optional<ProcessColumn> column_named(std::string_view name) {
  const auto *const found = std::ranges::find(kFixed, name, &FixedColumn::key);
  if (found != kFixed.end()) return ProcessColumn{found->kind};
  if (const auto id = find_metric(Scope::process, name)) return ProcessColumn{Kind::metric, *id};
  return std::nullopt;
}

std::optional<ProcessColumn> column_of(Role role) {
  if (const auto id = find_role(Scope::process, role)) return ProcessColumn{Kind::metric, *id};
  return std::nullopt;
}

std::vector<ProcessColumn> all_columns() {
  std::vector<ProcessColumn> all;
  for (const auto &each : kFixed) all.push_back({each.kind});
  for_each_metric(Scope::process, [&](MetricId id, const Metric &) { all.push_back({Kind::metric, id}); });
  return all;
}

std::vector<ProcessColumn> default_columns() {
  std::vector<ProcessColumn> columns{{Kind::device}, {Kind::pid}};
  bool owner_placed = false;
  for (const auto id : view::ranked_metrics(Scope::process)) {
    const bool text = is_text(describe(id));
    // The type follows the user; the owner (job, pod, container) goes before the first other text.
    if (text && describe(id).role != Role::user && !owner_placed) {
      columns.push_back({Kind::owner});
      owner_placed = true;
    }
    columns.push_back({Kind::metric, id});
    if (describe(id).role == Role::user) columns.push_back({Kind::type});
  }
  return columns;
}

term::Cell cell(const ProcessColumn &column, const Process &process, const term::Style &style) {
  switch (column.kind) {
    case Kind::device:
      return {text(process.device)};
    case Kind::pid:
      return {fmt::format_int(process.pid).str()};
    case Kind::type:
      return {view::type_letters(process.types)};
    case Kind::owner:
      return view::owner_cell(process, style);
    case Kind::metric:
      break;
  }
  const auto &metric = describe(column.metric);
  if (metric.role == Role::command) return view::command_cell(process, style);
  if (!is_text(metric)) return view::value_cell(style, metric, process.row[column.metric]);
  auto text = term::clean(text_of(column.metric, process), style.unicode);
  return text.empty() ? view::missing_cell(style) : term::Cell(std::move(text));
}

bool descends(const ProcessColumn &column) { return column.kind == Kind::metric && !is_text(describe(column.metric)); }

int compare(const ProcessColumn &column, const Process &a, const Process &b, bool descending) {
  const int way = descending ? -1 : 1;
  switch (column.kind) {
    case Kind::device:
      return way * (a.device < b.device ? -1 : b.device < a.device ? 1 : 0);
    case Kind::pid:
      return way * sign(static_cast<double>(a.pid) - static_cast<double>(b.pid));
    case Kind::type:
      return way * sign(static_cast<double>(a.types) - static_cast<double>(b.types));
    case Kind::owner:
      return compare_texts(owner_text(a), owner_text(b), descending);
    case Kind::metric:
      break;
  }
  if (is_text(describe(column.metric))) {
    return compare_texts(text_of(column.metric, a), text_of(column.metric, b), descending);
  }
  return compare_readings(a.row[column.metric], b.row[column.metric], descending);
}

}  // namespace gpulse::tui
