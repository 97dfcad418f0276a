// SPDX-License-Identifier: Apache-2.0
#include "view/usage_report.hpp"

#include <fmt/format.h>

#include "base/counted.hpp"
#include "insight/catalogue.hpp"
#include "term/table.hpp"
#include "term/width.hpp"
#include "view/cell.hpp"
#include "view/history.hpp"
#include "view/usage_words.hpp"

namespace gpulse::view {

using insight::GpuTime;
using insight::UsageReport;
using insight::UsageSource;
using term::Align;
using term::Cell;
using term::Colour;
using term::Style;

namespace {

using Lines = std::vector<std::string>;

Cell amount_cell(const std::string &words, const Style &style, Colour colour = Colour::plain) {
  return words.empty() ? missing_cell(style) : Cell(words, colour);
}

Cell text_cell(std::string_view text, const Style &style, Colour colour = Colour::plain) {
  return text.empty() ? missing_cell(style) : Cell(term::clean(text, style.unicode), colour);
}

Cell finding_cell(const std::optional<insight::FindingId> &id, const Style &style) {
  return id ? Cell(std::string(insight::word(*id))) : missing_cell(style);
}

std::vector<Cell> row_cells(Cell name, const GpuTime &time, bool is_held, const UsageReportOptions &options) {
  const auto &style = options.style;
  const auto wasted = is_held ? wasted_words(time, style.unicode) : std::string();
  std::vector<Cell> cells{std::move(name),
                          Cell(gpu_hours(time.held)),
                          amount_cell(active_words(time, style.unicode), style),
                          amount_cell(used_words(time, style.unicode), style),
                          amount_cell(wasted, style, Colour::warn),
                          amount_cell(is_held ? wasted_share_words(time) : "", style),
                          amount_cell(kwh_words(time, style.unicode), style)};
  if (options.price) cells.push_back(amount_cell(cost_words(time, options), style));
  return cells;
}

Lines row_lines(const UsageReport &report, const UsageReportOptions &options) {
  const auto &style = options.style;
  std::vector<term::Column> columns{{.title = by_title(report.by), .min = 8, .cap = 32},
                                    {.title = "HELD", .align = Align::right, .gap = 2},
                                    {.title = "ACTIVE", .align = Align::right, .gap = 2, .keep = 700},
                                    {.title = "USED", .align = Align::right, .gap = 2, .keep = 900},
                                    {.title = "WASTED", .align = Align::right, .gap = 2},
                                    {.title = "SHARE", .align = Align::right, .gap = 1, .keep = 800},
                                    {.title = "kWh", .align = Align::right, .gap = 2, .keep = 600}};
  if (options.price) {
    const auto &currency = options.price->currency;
    const auto title = currency.empty() ? std::string("COST") : term::clean(currency.str(), style.unicode);
    columns.push_back({.title = title, .align = Align::right, .gap = 2, .keep = 650});
  }
  columns.push_back({.title = "WORST FINDING", .gap = 2, .min = 8, .keep = 500});
  term::Table table(std::move(columns));
  for (const auto &row : report.rows) {
    auto cells = row_cells(text_cell(row_name(report, row), style), row.time, true, options);
    cells.push_back(finding_cell(row.worst, style));
    table.add(std::move(cells));
  }
  auto all = row_cells(Cell("all held", Colour::bold), report.held, true, options);
  all.push_back({});
  table.add(std::move(all));
  if (report.user.empty()) {
    auto nobody = row_cells(Cell("held by nobody", Colour::dim), report.nobody, false, options);
    nobody.push_back({});
    table.add(std::move(nobody));
  }
  return table.lines(style);
}

Lines worst_lines(const UsageReport &report, const Style &style) {
  if (report.worst.empty()) return {};
  term::Table table({{.title = "USER", .min = 4, .cap = 16},
                     {.title = "WHAT", .gap = 2, .min = 8, .cap = 40},
                     {.title = "HOST", .gap = 2, .min = 6, .cap = 20, .keep = 300},
                     {.title = "GPUS", .align = Align::right, .gap = 2, .keep = 500},
                     {.title = "HELD", .align = Align::right, .gap = 2, .keep = 900},
                     {.title = "WASTED", .align = Align::right, .gap = 2},
                     {.title = "SHARE", .align = Align::right, .gap = 1, .keep = 800},
                     {.title = "WORST FINDING", .gap = 2, .min = 8, .keep = 600}});
  for (const auto &worst : report.worst) {
    table.add({text_cell(worst.user.str(), style), text_cell(what_words(worst), style),
               worst.host.empty() ? Cell("several", Colour::dim) : text_cell(worst.host.str(), style),
               Cell(fmt::format("{}", worst.devices)), Cell(gpu_hours(worst.time.held)),
               amount_cell(wasted_words(worst.time, style.unicode), style, Colour::warn),
               amount_cell(wasted_share_words(worst.time), style), finding_cell(worst.worst, style)});
  }
  Lines lines{term::line(style, {{report.worst.size() == 1 ? std::string("Most wasted by")
                                                           : fmt::format("The {} worst", report.worst.size()),
                                  Colour::bold}})};
  for (auto &line : table.lines(style)) lines.push_back(std::move(line));
  return lines;
}

Lines finding_lines(const UsageReport &report, const Style &style) {
  if (report.findings.empty()) return {};
  const bool is_sure = report.source == UsageSource::engine;
  term::Table table({{.title = is_sure ? "LOST" : "WASTED MEANWHILE", .align = Align::right},
                     {.title = "STOOD", .align = Align::right, .gap = 2, .keep = 700},
                     {.title = "TIMES", .align = Align::right, .gap = 2, .keep = 600},
                     {.title = "FINDING", .gap = 2},
                     {.title = "", .gap = 2, .min = 8, .keep = 500}});
  for (const auto &finding : report.findings) {
    const auto &kind = insight::describe(finding.id);
    table.add({amount_cell(finding.lost ? gpu_hours(*finding.lost) : "", style, Colour::warn),
               amount_cell(finding.stood ? gpu_hours(*finding.stood) : "", style),
               amount_cell(finding.times ? fmt::format("{}", *finding.times) : "", style), Cell(std::string(kind.word)),
               Cell(term::clean(kind.title, style.unicode), Colour::dim)});
  }
  Lines lines{term::line(style, {{"Findings, in GPU-hours", Colour::bold}})};
  for (auto &line : table.lines(style)) lines.push_back(std::move(line));
  return lines;
}

std::string title_line(const UsageReport &report, const Style &style) {
  auto rest = fmt::format("  {}  {}", span_words(report.from, report.to, style), recorded_words(report));
  rest += fmt::format(", {}", counted(report.devices, "GPU"));
  if (report.hosts > 1) rest += fmt::format(" of {} hosts", report.hosts);
  return term::line(style, {{term::clean(report.place.str(), style.unicode), Colour::bold}, {rest}});
}

void add(Lines &lines, const Lines &more) {
  if (more.empty()) return;
  lines.emplace_back();
  lines.insert(lines.end(), more.begin(), more.end());
}

}  // namespace

std::string render_usage_report(const UsageReport &report, const UsageReportOptions &options) {
  const auto &style = options.style;
  Lines lines{title_line(report, style)};
  if (!report.user.empty()) {
    lines.push_back(term::line(style, {{"only " + term::clean(printable(report.user), style.unicode)}}));
  }
  if (report.rows.empty()) {
    add(lines, {term::line(style, {{"nobody held a GPU", Colour::dim}})});
  }
  Lines rows{term::line(style, {{"GPU-hours", Colour::bold}})};
  for (auto &line : row_lines(report, options)) rows.push_back(std::move(line));
  add(lines, rows);
  add(lines, worst_lines(report, style));
  add(lines, finding_lines(report, style));
  Lines notes;
  for (const auto &note : usage_notes(report, options)) {
    for (const auto &line : term::wrap(note, style.width)) notes.push_back(term::line(style, {{line, Colour::dim}}));
  }
  add(lines, notes);
  std::string out;
  for (const auto &line : lines) out += line + '\n';
  return out;
}

}  // namespace gpulse::view
