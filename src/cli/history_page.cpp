// SPDX-License-Identifier: Apache-2.0
#include "cli/history_page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;
using serve::ids_of;
using serve::place_of;
using view::HistoryPage;

// On a page with everything; asked for alone, a list is whole.
constexpr std::size_t kRowsOfAPage = 20;
constexpr std::size_t kFewDevices = 2;
// As many as a wide terminal has columns of dots.
constexpr std::size_t kPointsOfAPlot = 400;

// Of what was not asked for nothing is said where a machine does not have it; and where there are many plots, the truer
// of two is enough.
void choose_metrics(const HistoryRequest &request, std::size_t devices, HistoryPage::Curves &curves) {
  const auto is_unknown = [&](MetricId id) {
    return std::ranges::none_of(curves.curves, [&](const auto &curve) { return curve.metric == id; });
  };
  const auto plays = [](Role role) { return [role](MetricId id) { return key_of(id).role == role; }; };
  if (request.chosen) return;
  if (!request.for_program) std::erase_if(curves.metrics, is_unknown);
  const bool crowded = request.is_page && devices > kFewDevices;
  if (crowded && std::ranges::any_of(curves.metrics, plays(Role::true_activity)))
    std::erase_if(curves.metrics, plays(Role::utilization));
}

Result<HistoryPage::Curves> read_curves(history::Reader &reader, const HistoryRequest &request,
                                        const KnownDevices &devices, const history::Progress &progress) {
  history::RangeQuery query{
      .span = request.span, .metrics = request.metrics, .devices = ids_of(devices), .step = request.step};
  if (!request.for_program) query.points = kPointsOfAPlot;
  auto range = reader.range(query, progress);
  if (!range) return std::unexpected(range.error());
  const bool raw = range->tier == history::Tier::raw;
  // Samples that are a few seconds apart belong together.
  HistoryPage::Curves curves{.metrics = request.metrics,
                             .origin = fmt::format("{} steps", word(range->tier)),
                             .step = range->step,
                             .reach = raw ? std::max<std::chrono::seconds>(range->step, 5s) : range->step,
                             .curves = {}};
  for (auto &series : range->series) {
    const bool of_host = key_of(series.metric).scope == Scope::host;
    const auto place = of_host ? std::optional<std::size_t>(0) : place_of(devices, series.device);
    if (!place) continue;
    view::HistoryCurve curve{
        .metric = series.metric, .device = *place, .holds = !raw && kept(describe(series.metric)) == Kept::changes};
    curve.points.reserve(series.points.size());
    for (const auto &point : series.points)
      curve.points.push_back({point.time, point.value, point.least, point.greatest});
    // There may be millions: not twice.
    series.points = {};
    curves.curves.push_back(std::move(curve));
  }
  choose_metrics(request, devices.size(), curves);
  return curves;
}

Result<std::vector<view::HistoryProcess>> read_processes(history::Reader &reader, const HistoryRequest &request,
                                                         const KnownDevices &devices,
                                                         const history::Progress &progress) {
  const auto uses = reader.processes(request.span, ids_of(devices), progress);
  if (!uses) return std::unexpected(uses.error());
  const auto user = find_role(Scope::process, Role::user);
  std::vector<view::HistoryProcess> processes;
  for (const auto &use : *uses) {
    const auto place = place_of(devices, use.device);
    if (!place) continue;
    if (!request.user.empty() && (!user || use.texts[*user].value_or("") != request.user)) continue;
    processes.push_back(serve::past_process(use, *place, devices[*place]->number));
  }
  return processes;
}

Result<std::vector<Event>> read_events(history::Reader &reader, const HistoryRequest &request,
                                       const KnownDevices &devices) {
  auto events = reader.events(request.span);
  if (!events || request.selectors.empty()) return events;
  std::erase_if(*events, [&](const Event &event) {
    return !event.device.empty() && std::ranges::none_of(devices, [&](const history::KnownDevice *known) {
      return known->identity->uuid == event.device;
    });
  });
  return events;
}

// Where nothing was recorded, for lists that cannot show it by themselves.
Result<std::vector<view::HistoryGap>> read_gaps(history::Reader &reader, const history::Span &span) {
  const auto metric = find_role(Scope::host, Role::cpu);
  if (!metric) return {};
  const auto range = reader.range({.span = span, .metrics = {*metric}, .devices = {}});
  if (!range) return std::unexpected(range.error());
  // Shorter ones are the pace of the samples, or a restart of the agent.
  const auto least = std::max<std::chrono::seconds>(2 * range->step, span.to - span.from > 15min ? 60s : 30s);
  std::vector<view::HistoryGap> gaps;
  auto known = span.from;
  const auto look = [&](WallTime next) {
    if (next - known > least) gaps.push_back({known, next});
  };
  for (const auto &series : range->series) {
    for (const auto &point : series.points) {
      look(point.time);
      known = std::max(known, point.time + range->step);
    }
  }
  look(span.to);
  return gaps;
}

}  // namespace

Result<void> check_covered(history::Reader &reader, const history::Span &span) {
  const auto coverage = reader.coverage();
  if (!coverage) return std::unexpected(coverage.error());
  const auto whole = serve::whole_of(*coverage);
  if (!whole) return failure(fmt::format("{} has nothing in it yet", reader.path()));
  if (whole->from < span.to && span.from < whole->to) return {};
  const term::Style plain{.unicode = false};
  return failure(fmt::format("there is nothing of {}", view::span_words(span.from, span.to, plain)),
                 fmt::format("the history is of {}", view::span_words(whole->from, whole->to, plain)));
}

Result<KnownDevices> devices_of(const history::Reader &reader, const HistoryRequest &request) {
  return serve::devices_in(reader, request.span, request.selectors);
}

Result<HistoryPage> read_page(history::Reader &reader, const HistoryRequest &request, const KnownDevices &devices,
                              const history::Progress &progress) {
  HistoryPage page;
  page.hostname = reader.hostname();
  page.from = request.span.from;
  page.to = request.span.to;
  for (const auto *known : devices) page.devices.push_back({.id = known->number, .identity = known->identity});
  if (request.is_page) page.most_rows = kRowsOfAPage;
  page.lists_processes = request.processes;
  page.users = request.users;
  page.jobs = request.jobs;
  // Fills in what a step brings, or remembers why it brought nothing.
  Result<void> done;
  const auto take = [&](auto &&brought, auto &target) {
    if (done && brought) target = std::move(*brought);
    if (done && !brought) done = std::unexpected(brought.error());
  };
  if (request.curves) take(read_curves(reader, request, devices, progress), page.curves);
  const bool needs_processes = request.processes || request.users || request.jobs;
  if (done && needs_processes) take(read_processes(reader, request, devices, progress), page.processes);
  if (done && request.events) take(read_events(reader, request, devices), page.events);
  if (done && !request.for_program && !request.curves) take(read_gaps(reader, request.span), page.gaps);
  const auto lost = done ? reader.lost(request.span) : Result<std::vector<history::LostSpan>>();
  if (!lost) return std::unexpected(lost.error());
  for (const auto &loss : *lost) page.lost.push_back({loss.span.from, loss.span.to, loss.samples, loss.reason});
  if (!done) return std::unexpected(done.error());
  return page;
}

}  // namespace gpulse::cli
