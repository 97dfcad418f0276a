// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/moment.hpp"
#include "insight/catalogue.hpp"
#include "view/html_page.hpp"
#include "view/usage_report.hpp"
#include "view/usage_words.hpp"

namespace gpulse::view {

using insight::GpuTime;
using insight::UsageReport;
using insight::UsageSource;

namespace {

constexpr double kBarWidth = 900, kBarHeight = 20, kBarRow = 30, kBarName = 180, kBarFigure = 90;
constexpr std::size_t kMostBars = 20;

constexpr std::string_view kBarStyle =
    "<style>rect.used{fill:var(--a)}rect.hidden{fill:var(--b)}rect.busy{fill:var(--b);opacity:.45}"
    "rect.wasted{fill:var(--bad);opacity:.55}rect.unknown{fill:var(--line)}.key.used::before{background:var(--a)}"
    ".key.hidden::before{background:var(--b)}.key.busy::before{background:var(--b);opacity:.45}"
    ".key.wasted::before{background:var(--bad);opacity:.55}.key.unknown::before{background:var(--line)}"
    "table.text td:first-child,table.text th:first-child,td.left,th.left{text-align:left}"
    "td.left{white-space:normal;overflow-wrap:anywhere}tr.sum td{font-weight:600}</style>\n";

std::string or_dash(const std::string &words) { return words.empty() ? R"(<span class="dim">–</span>)" : words; }

std::string cell(const std::string &words) { return "<td>" + or_dash(words) + "</td>"; }
std::string left_cell(std::string_view text) { return R"(<td class="left">)" + or_dash(html_escaped(text)) + "</td>"; }

std::string amount_cells(const GpuTime &time, bool is_held, const UsageReportOptions &options) {
  auto out = cell(gpu_hours(time.held)) + cell(active_words(time, true)) + cell(used_words(time, true)) +
             cell(is_held ? wasted_words(time, true) : "") + cell(is_held ? wasted_share_words(time) : "") +
             cell(kwh_words(time, true));
  if (options.price) out += cell(cost_words(time, options));
  return out;
}

std::string cards(const UsageReport &report, const UsageReportOptions &options) {
  const auto &held = report.held;
  auto out = std::string(R"(<div class="cards">)") + html_card(gpu_hours(held.held), "GPU-hours held");
  if (held.active_of > 0) out += html_card(active_words(held, true), "GPU-hours active: a kernel ran");
  if (held.used_of > 0) out += html_card(used_words(held, true), "GPU-hours truly used");
  if (held.wasted_of > 0) {
    out += html_card(wasted_words(held, true),
                     fmt::format("GPU-hours wasted, {} of those held", wasted_share_words(held)));
  }
  if (report.user.empty()) out += html_card(gpu_hours(report.nobody.held), "GPU-hours held by nobody");
  if (held.joules_of > 0) out += html_card(kwh_words(held, true) + " kWh", "while GPUs were held");
  if (const auto cost = cost_words(held, options); !cost.empty()) {
    out += html_card(fmt::format("{} {}", cost, options.price->currency.str()), "for that energy");
  }
  return out + "</div>\n";
}

// A bar as long as the time held: what was truly used, what only looked busy, and what was idle.
std::string bar(const insight::UsageRow &row, double most, double y) {
  const auto &time = row.time;
  const double scale = (kBarWidth - kBarName - kBarFigure) / most;
  // Active where the true activity is not known, and where it is.
  const double busy = std::max(time.estimated - time.wasted + time.used_of - time.used, 0.0);
  const double hidden = std::max(time.active - busy - time.used, 0.0);
  const double idle = std::max(time.wasted_of - time.used - hidden - busy, 0.0);
  double x = kBarName;
  std::string out;
  const auto part = [&](std::string_view style, double seconds, std::string_view words) {
    if (seconds <= 0) return;
    out += fmt::format(
        R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"><title>{}: {} GPU-hours</title></rect>)",
        style, x, y, std::max(seconds * scale, 0.5), kBarHeight, words, gpu_hours(seconds));
    x += seconds * scale;
  };
  part("used", time.used, "truly used");
  part("hidden", hidden, "a kernel ran, most of the GPU idle");
  part("busy", busy, "a kernel ran, true activity not known");
  part("wasted", idle, "idle");
  part("unknown", time.held - time.wasted_of, "not known");
  return out;
}

std::string bars(const UsageReport &report) {
  if (report.rows.empty()) return {};
  double most = 0;
  for (const auto &row : report.rows) most = std::max(most, row.time.held);
  const auto count = std::min(report.rows.size(), kMostBars);
  auto out = fmt::format(
      R"(<figure><figcaption><b>GPU-hours held</b> <span class="key used">truly used</span><span class="key hidden">only )"
      R"(seemed busy</span><span class="key busy">busy, true activity not known</span><span class="key wasted">idle</span>)"
      R"(<span class="key unknown">not known</span></figcaption>)"
      R"(<svg viewBox="0 0 {} {}" role="img" aria-label="GPU-hours held">)",
      kBarWidth, kBarRow * static_cast<double>(count));
  for (std::size_t i = 0; i < count && most > 0; ++i) {
    const auto &row = report.rows[i];
    const double y = kBarRow * static_cast<double>(i) + 5;
    const auto name = row_name(report, row);
    constexpr std::size_t kLongest = 28;
    const auto shown = std::string(first_bytes(printable(name), kLongest));
    out += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}{}<title>{}</title></text>)", kBarName - 8,
                       y + 15, html_escaped(shown), name.size() > shown.size() ? "…" : "", html_escaped(name));
    out += bar(row, most, y);
    const double end = kBarName + row.time.held * (kBarWidth - kBarName - kBarFigure) / most;
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{} h</text>)", end + 6, y + 15, gpu_hours(row.time.held));
  }
  return out + "</svg></figure>\n";
}

std::string heads(std::initializer_list<std::string_view> names) {
  std::string out;
  for (const auto name : names) out += fmt::format("<th>{}</th>", name);
  return out;
}

std::string rows_html(const UsageReport &report, const UsageReportOptions &options) {
  std::string cost;
  if (options.price) {
    const auto &currency = options.price->currency;
    cost = "<th>" + (currency.empty() ? std::string("Cost") : html_escaped(currency)) + "</th>";
  }
  auto out = fmt::format(
      R"(<h2>By {}</h2><div class="wide"><table class="text"><tr><th class="left">Name</th>{}{}<th class="left">Worst finding</th></tr>)"
      "\n",
      word(report.by), heads({"Held", "Active", "Truly used", "Wasted", "Share", "kWh"}), cost);
  for (const auto &row : report.rows) {
    out += fmt::format("<tr>{}{}{}</tr>\n", left_cell(row_name(report, row)), amount_cells(row.time, true, options),
                       left_cell(row.worst ? insight::word(*row.worst) : ""));
  }
  out += fmt::format(R"(<tr class="sum">{}{}<td></td></tr>)"
                     "\n",
                     left_cell("all held"), amount_cells(report.held, true, options));
  if (report.user.empty()) {
    out += fmt::format("<tr>{}{}<td></td></tr>\n", left_cell("held by nobody"),
                       amount_cells(report.nobody, false, options));
  }
  return out + "</table></div>\n";
}

std::string worst_html(const UsageReport &report) {
  if (report.worst.empty()) return {};
  auto out = fmt::format(
      R"(<h2>Most wasted</h2><div class="wide"><table class="text"><tr><th class="left">User</th><th class="left">Job or program</th>)"
      R"(<th class="left">Host</th>{}<th class="left">Worst finding</th></tr>)"
      "\n",
      heads({"GPUs", "Held", "Wasted", "Share"}));
  for (const auto &worst : report.worst) {
    out += fmt::format("<tr>{}{}{}{}{}{}{}{}</tr>\n", left_cell(worst.user), left_cell(what_words(worst)),
                       left_cell(worst.host.empty() ? std::string_view("several") : worst.host.str()),
                       cell(fmt::format("{}", worst.devices)), cell(gpu_hours(worst.time.held)),
                       cell(wasted_words(worst.time, true)), cell(wasted_share_words(worst.time)),
                       left_cell(worst.worst ? insight::describe(*worst.worst).title : ""));
  }
  return out + "</table></div>\n";
}

std::string findings_html(const UsageReport &report) {
  if (report.findings.empty()) return {};
  const bool is_sure = report.source == UsageSource::engine;
  auto out = fmt::format(
      R"(<h2>Findings</h2><div class="wide"><table class="text"><tr><th class="left">Finding</th><th class="left"></th>{}</tr>)"
      "\n",
      heads({is_sure ? "GPU-hours lost" : "Wasted meanwhile", "Stood", "Times"}));
  for (const auto &finding : report.findings) {
    const auto &kind = insight::describe(finding.id);
    out += fmt::format("<tr>{}{}{}{}{}</tr>\n", left_cell(kind.word), left_cell(kind.title),
                       cell(finding.lost ? gpu_hours(*finding.lost) : ""),
                       cell(finding.stood ? gpu_hours(*finding.stood) : ""),
                       cell(finding.times ? fmt::format("{}", *finding.times) : ""));
  }
  return out + "</table></div>\n";
}

}  // namespace

std::string usage_report_html(const UsageReport &report, const UsageReportOptions &options) {
  const auto place = html_escaped(report.place);
  auto out = html_page_head(kUsageHtmlHead, place + ": gpulse report", "What the GPUs were used for: " + place);
  out += kBarStyle;
  out += fmt::format("<p class=\"dim\">{} to {} · {} · {}{}{}</p>\n", local_time(report.from, "%Y-%m-%d %H:%M"),
                     local_time(report.to, "%Y-%m-%d %H:%M %Z"), recorded_words(report), counted(report.devices, "GPU"),
                     report.hosts > 1 ? fmt::format(" of {} hosts", report.hosts) : "",
                     report.user.empty() ? "" : " · only " + html_escaped(report.user));
  out +=
      cards(report, options) + bars(report) + rows_html(report, options) + worst_html(report) + findings_html(report);
  out += "<h2>Notes</h2><ul>";
  for (const auto &note : usage_notes(report, options)) out += fmt::format("<li>{}</li>", html_escaped(note));
  return out +
         "<li>Held: a process was on the GPU; a GPU that several hold is divided among them. Active: a kernel ran. "
         "Truly "
         "used: the processors of the GPU worked. Wasted: held and not truly used.</li></ul>\n<footer>Made by gpulse "
         "report.</footer>\n</main></body></html>\n";
}

}  // namespace gpulse::view
