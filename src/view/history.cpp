// SPDX-License-Identifier: Apache-2.0
#include "view/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/counted.hpp"
#include "base/moment.hpp"
#include "term/width.hpp"
#include "view/cell.hpp"
#include "view/history_parts.hpp"

namespace gpulse::view {

using term::Colour;
using term::Style;

namespace {

using namespace std::chrono_literals;

constexpr auto kShort = 15min;  // spans up to this are read by the second

// "+01:00"
std::string offset_words(WallTime time) {
  const auto offset = utc_offset(time);
  const auto minutes = std::chrono::floor<std::chrono::minutes>(std::chrono::abs(offset));
  return fmt::format("{}{:02}:{:02}", offset < 0s ? '-' : '+', minutes.count() / 60, minutes.count() % 60);
}

bool is_same_day(WallTime one, WallTime other) { return local_time(one, "%F") == local_time(other, "%F"); }

const char *clock_form(WallTime from, WallTime to) { return to - from <= kShort ? "%H:%M:%S" : "%H:%M"; }

void add(Lines &lines, const Lines &more) {
  if (!lines.empty() && !more.empty()) lines.emplace_back();
  lines.insert(lines.end(), more.begin(), more.end());
}

std::string title_line(const HistoryPage &page, const Style &style) {
  std::vector<term::Span> spans;
  if (!page.hostname.empty()) spans.push_back({term::clean(page.hostname.str(), style.unicode) + "  ", Colour::bold});
  spans.push_back({span_words(page.from, page.to, style)});
  if (page.curves) spans.push_back({fmt::format("  from {}", page.curves->origin), Colour::dim});
  return term::line(style, spans);
}

Lines loss_lines(const HistoryPage &page, const Style &style) {
  Lines lines;
  for (const auto &loss : page.lost) {
    const auto text = fmt::format("{} lost from {} to {}: {}", counted(loss.samples, "sample"),
                                  moment_words(page, loss.from), moment_words(page, loss.to), loss.reason.str());
    lines.push_back(term::line(style, {{term::clean(text, style.unicode), Colour::warn}}));
  }
  return lines;
}

Lines gap_lines(const HistoryPage &page, const Style &style) {
  if (page.gaps.empty()) return {};
  constexpr std::size_t kMost = 4;
  std::string text = "nothing was recorded ";
  for (std::size_t i = 0; i < std::min(page.gaps.size(), kMost); ++i) {
    text += fmt::format("{}from {} to {}", i == 0 ? "" : ", ", moment_words(page, page.gaps[i].from),
                        moment_words(page, page.gaps[i].to));
  }
  if (page.gaps.size() > kMost) text += fmt::format(", and {} times more", page.gaps.size() - kMost);
  Lines lines;
  for (const auto &line : term::wrap(text, style.width)) lines.push_back(term::line(style, {{line, Colour::warn}}));
  return lines;
}

std::string owner_of(const HistoryProcess &use, HistoryOwner by) {
  const auto *texts = use.process.texts.get();
  if (by == HistoryOwner::user) return std::string(text_by_role(texts, Role::user));
  for (const auto role : {Role::job, Role::pod, Role::container}) {
    if (const auto text = text_by_role(texts, role); !text.empty()) return std::string(text);
  }
  return {};
}

void add_to(std::optional<double> &sum, std::optional<double> more) {
  if (more) sum = sum.value_or(0) + *more;
}

}  // namespace

std::vector<MetricId> history_metrics() {
  std::vector<MetricId> metrics;
  for (const auto role : {Role::utilization, Role::true_activity, Role::memory_used, Role::power, Role::temperature}) {
    if (const auto id = find_role(Scope::device, role)) metrics.push_back(*id);
  }
  return metrics;
}

std::optional<double> busy_seconds(const HistoryProcess &process) {
  const auto busy = by_role(process.process.row, Role::utilization);
  return busy ? std::optional(busy.value() / 100 * process.seconds) : std::nullopt;
}

std::vector<HistoryTotal> history_totals(const std::vector<HistoryProcess> &processes, HistoryOwner by) {
  std::map<std::string, HistoryTotal> totals;
  // A process has a row for each of its devices; a number may have been another process's before.
  std::map<std::string, std::set<std::pair<std::uint32_t, std::string>>> seen;
  std::map<std::string, std::set<std::size_t>> devices;
  for (const auto &use : processes) {
    const auto name = owner_of(use, by);
    auto &total = totals[name];
    total.name = name;
    total.seconds += use.seconds;
    const auto busy = busy_seconds(use);
    add_to(total.gpu_seconds, busy);
    total.is_least = total.is_least || !busy;
    const auto memory = by_role(use.process.row, Role::memory_used);
    if (memory) add_to(total.byte_seconds, memory.value() * use.seconds);
    seen[name].emplace(use.process.pid, text_by_role(use.process.texts.get(), Role::command));
    devices[name].insert(use.device);
  }
  std::vector<HistoryTotal> sorted;
  for (auto &[name, total] : totals) {
    total.processes = seen[name].size();
    total.devices = devices[name].size();
    sorted.push_back(std::move(total));
  }
  std::ranges::sort(sorted, {}, [](const HistoryTotal &total) {
    return std::tuple(-total.gpu_seconds.value_or(-1), -total.seconds, total.name);
  });
  return sorted;
}

std::string moment_words(const HistoryPage &page, WallTime time) {
  const bool has_day = !is_same_day(page.from, page.to - 1ns) || !is_same_day(page.from, time);
  const auto form = fmt::format("{}{}", has_day ? "%m-%d " : "", clock_form(page.from, page.to));
  return local_time(time, form.c_str());
}

std::string span_words(WallTime from, WallTime to, const Style &style) {
  const auto *clock = clock_form(from, to);
  const auto full = fmt::format("%F {}", clock);
  const bool same_zone = utc_offset(from) == utc_offset(to);
  return fmt::format("{}{} {} {} {}{}", local_time(from, full.c_str()), same_zone ? "" : " " + offset_words(from),
                     style.unicode ? "–" : "-", local_time(to, is_same_day(from, to) ? clock : full.c_str()),
                     same_zone ? "UTC" : "", offset_words(to));
}

std::string render_history(const HistoryPage &page, const Style &style) {
  Lines lines{title_line(page, style)};
  add(lines, loss_lines(page, style));
  add(lines, gap_lines(page, style));
  if (page.curves) add(lines, history_plots(page, style));
  if (page.users) add(lines, history_total_lines(page, HistoryOwner::user, style));
  if (page.jobs) add(lines, history_total_lines(page, HistoryOwner::job, style));
  if (page.processes && page.lists_processes) add(lines, history_process_lines(page, style));
  if (page.events) add(lines, history_event_lines(page, style));
  std::string out;
  for (const auto &line : lines) out += line + '\n';
  return out;
}

}  // namespace gpulse::view
