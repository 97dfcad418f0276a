// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "term/table.hpp"
#include "view/cell.hpp"
#include "view/event_cells.hpp"
#include "view/history_parts.hpp"
#include "view/process_cells.hpp"

namespace gpulse::view {

using term::Align;
using term::Cell;
using term::Colour;
using term::Column;
using term::Style;

namespace {

constexpr double kHour = 3600, kGiB = 1024.0 * 1024 * 1024;

std::string label(Role role) { return std::string(label_of(Scope::process, role)); }

std::vector<Column> process_columns() {
  return {{.title = "GPU", .align = Align::right},
          {.title = "PID", .align = Align::right, .gap = 2},
          {.title = label(Role::user), .gap = 2, .min = 4, .cap = 12, .keep = 950},
          {.title = "PEAK", .align = Align::right, .gap = 2, .keep = 900},
          {.title = "GPU TIME", .align = Align::right, .gap = 2, .keep = 850},
          {.title = label(Role::utilization), .align = Align::right, .gap = 2, .keep = 500},
          {.title = "FROM", .gap = 2, .keep = 820},
          {.title = "TO", .gap = 2, .keep = 810},
          {.title = label(Role::job), .gap = 2, .cap = 20, .keep = 400},
          {.title = label(Role::command), .gap = 2, .min = 8, .cap = 24, .keep = 800}};
}
constexpr std::size_t kOwnerColumn = 8;

Cell duration_cell(std::optional<double> seconds, const Style &style) {
  return seconds ? Cell(short_duration(*seconds)) : missing_cell(style);
}

std::vector<Cell> process_cells(const HistoryPage &page, const HistoryProcess &use, const Style &style) {
  return {Cell(text(use.process.device)),
          Cell(fmt::format("{}", use.process.pid)),
          process_text_cell(use.process, Role::user, style),
          role_cell(style, use.most, Role::memory_used),
          duration_cell(busy_seconds(use), style),
          role_cell(style, use.process.row, Role::utilization),
          Cell(moment_words(page, use.first)),
          Cell(moment_words(page, use.last)),
          owner_cell(use.process, style),
          command_cell(use.process, style)};
}

// Hours with as many digits as tell something.
std::string hours(double seconds) {
  const double hours = seconds / kHour;
  return fixed(hours, hours < 10 ? 2 : hours < 100 ? 1 : 0);
}

Cell least_cell(const HistoryTotal &total, const Style &style) {
  if (!total.gpu_seconds) return missing_cell(style);
  return Cell((total.is_least ? (style.unicode ? "≥" : ">=") : "") + hours(*total.gpu_seconds));
}

std::string more_line(std::size_t count, const char *option, const Style &style) {
  return term::line(style, {{fmt::format("+{} more: {} shows all", count, option), Colour::dim}});
}

std::size_t shown_rows(const HistoryPage &page, std::size_t count) {
  return page.most_rows == 0 ? count : std::min(count, page.most_rows);
}

}  // namespace

Lines history_process_lines(const HistoryPage &page, const Style &style) {
  const auto &processes = *page.processes;
  if (processes.empty()) return {term::line(style, {{"no GPU processes", Colour::dim}})};
  auto columns = process_columns();
  const bool owners = std::ranges::any_of(processes, [](const auto &use) { return has_owner(use.process); });
  if (!owners) columns.erase(columns.begin() + kOwnerColumn);
  term::Table table(std::move(columns));
  const auto shown = shown_rows(page, processes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    auto cells = process_cells(page, processes[i], style);
    if (!owners) cells.erase(cells.begin() + kOwnerColumn);
    table.add(std::move(cells));
  }
  auto lines = table.lines(style);
  if (shown < processes.size()) lines.push_back(more_line(processes.size() - shown, "--processes", style));
  return lines;
}

Lines history_total_lines(const HistoryPage &page, HistoryOwner by, const Style &style) {
  const auto totals = history_totals(*page.processes, by);
  if (totals.empty()) return {term::line(style, {{"no GPU processes", Colour::dim}})};
  term::Table table({{.title = label(by == HistoryOwner::user ? Role::user : Role::job), .min = 8, .cap = 32},
                     {.title = "GPU HOURS", .align = Align::right, .gap = 2},
                     {.title = "GiB HOURS", .align = Align::right, .gap = 2},
                     {.title = "HOURS ON GPUS", .align = Align::right, .gap = 2, .keep = 500},
                     {.title = "GPUS", .align = Align::right, .gap = 2, .keep = 600},
                     {.title = "PROCESSES", .align = Align::right, .gap = 2, .keep = 700}});
  for (const auto &total : totals) {
    table.add(
        {total.name.empty() ? missing_cell(style) : Cell(term::clean(total.name, style.unicode)),
         least_cell(total, style), total.byte_seconds ? Cell(hours(*total.byte_seconds / kGiB)) : missing_cell(style),
         Cell(hours(total.seconds)), Cell(fmt::format("{}", total.devices)), Cell(fmt::format("{}", total.processes))});
  }
  return table.lines(style);
}

Lines history_event_lines(const HistoryPage &page, const Style &style) {
  const auto &events = *page.events;
  if (events.empty()) return {term::line(style, {{"no events", Colour::dim}})};
  Snapshot places;
  places.devices = page.devices;
  Lines lines;
  // The newest are those that matter where there is no room for all.
  const auto shown = shown_rows(page, events.size());
  if (shown < events.size()) lines.push_back(more_line(events.size() - shown, "--events", style));
  for (auto i = events.size() - shown; i < events.size(); ++i) {
    const auto &event = events[i];
    const auto place = event_place(places, event);
    lines.push_back(term::line(style, {{moment_words(page, event.time) + "  ", Colour::dim},
                                       {place.empty() ? "" : term::clean(place, style.unicode) + "  "},
                                       {term::clean(event_words(event), style.unicode), event_colour(event)}}));
  }
  return lines;
}

}  // namespace gpulse::view
