// SPDX-License-Identifier: Apache-2.0
#include "tui/details_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tui/chart.hpp"
#include "tui/device_page.hpp"
#include "tui/keys.hpp"
#include "tui/session.hpp"
#include "view/cell.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

using term::Area;
using term::Key;

namespace {

std::vector<MetricId> plotted_metrics() {
  std::vector<MetricId> ids;
  for (const auto role : {Role::utilization, Role::memory_used, Role::cpu, Role::host_memory}) {
    if (const auto id = find_role(Scope::process, role)) ids.push_back(*id);
  }
  return ids;
}

// Every number and text of the process, or why there is none; then its whole command line. Returns the lines needed.
int draw_facts(const Area &area, const Look &look, const Process &process) {
  constexpr int kColumn = 40;
  constexpr int kName = 11;
  const int across = std::max(1, area.columns() / kColumn);
  const int wide = area.columns() / across;
  int place = 0;
  const auto fact = [&](std::string_view name, const std::vector<term::Span> &value) {
    const int x = place % across * wide;
    const int y = place / across;
    ++place;
    const int used = area.put(x, y, term::pad(name, kName), look.theme->dim);
    put_spans(area, x + used, y, value, look, wide - used - 1);
  };
  fact("TYPE", {{type_word(process.types)}});
  for_each_metric(Scope::process, [&](MetricId id, const Metric &metric) {
    if (is_text(metric)) {
      if (metric.role == Role::command || process.texts == nullptr || !(*process.texts)[id]) return;
      fact(metric.label, {{term::clean((*process.texts)[id].value(), look.unicode())}});
      return;
    }
    const auto &reading = process.row[id];
    if (reading.is(Reason::not_supported)) return;
    if (reading) {
      fact(metric.label, view::value_cell(look.style, metric, reading).spans);
    } else {
      fact(metric.label, {{reason_text(reading), term::Colour::dim}});
    }
  });
  int y = (place + across - 1) / across;
  const auto command = view::command_cell(process, look.style, view::CommandForm::whole).spans.front().text;
  std::string_view name = "COMMAND";
  for (const auto &line : term::wrap(command, std::max(1, wide * across - kName))) {
    const int used = area.put(0, y, term::pad(std::exchange(name, ""), kName), look.theme->dim);
    area.put(used, y++, line, look.theme->text);
  }
  return y;
}

std::vector<Chart> make_charts(const DrawContext &context, const Process &process) {
  const auto &style = context.look.style;
  std::vector<Chart> charts;
  for (const auto id : plotted_metrics()) {
    const auto &metric = describe(id);
    const auto &reading = process.row[id];
    if (reading.is(Reason::not_supported)) continue;
    ChartCurve curve{.name = std::string(), .value = {}, .key = {process.device, process.pid, id.index}};
    curve.value = reading ? view::short_value(style, metric, reading.value()) : std::string(style.dash());
    double most = metric.unit == Unit::percent ? 100 : 0;
    for (const auto value : context.history.values(curve.key)) most = std::max(most, static_cast<double>(value));
    curve.high = metric.unit == Unit::percent && most <= 100 ? 100 : nice_scale(most, metric.unit);
    charts.push_back({std::string(metric.label), {curve}});
  }
  return charts;
}

}  // namespace

bool DetailsPage::handle(const term::Input &input, Session &session) {
  const auto *key = std::get_if<term::KeyPress>(&input);
  if (key == nullptr) {
    const auto *mouse = std::get_if<term::MouseEvent>(&input);
    return mouse == nullptr || mouse->action != term::MouseAction::press;
  }
  if (key->key == Key::escape || key->key == Key::enter || is_letter(*key, U'q')) return false;
  const auto *binding = binding_for(*key);
  if (binding == nullptr || binding->in_details == InDetails::ignored) return true;
  binding->run(session);
  if (binding->in_details == InDetails::moves) {
    if (const auto *process = session.processes.chosen_process()) process_ = key_of(*process);
  }
  return binding->in_details != InDetails::closes;
}

void DetailsPage::draw(const Area &area, const Look &look, Session &session) {
  constexpr term::Size kBoxedFrom{60, 16};
  std::vector<PlotKey> keys;
  for (const auto id : plotted_metrics()) keys.push_back({process_.device, process_.pid, id.index});
  want_plots(session, std::move(keys), chart_samples(session.size.columns, session.settings, look.unicode()));
  const auto &processes = session.snapshot->processes;
  const auto found =
      std::ranges::find_if(processes, [&](const Process &process) { return key_of(process) == process_; });
  if (found == processes.end()) {
    const auto inner =
        open_page(area, look, fmt::format("Process {}", process_.pid), key_note({key_bar().front()}), kBoxedFrom);
    const bool other_time = session.playback.in_the_past() || session.playback.replay();
    inner.put(0, 0, other_time ? "not there at this time" : "it has ended", look.theme->warn);
    return;
  }
  const auto &process = *found;
  const auto title = fmt::format("Process {} on GPU {}", process.pid, text(process.device));
  const auto inner = open_page(area, look, title, key_note(key_bar()), kBoxedFrom);
  const int wanted = draw_facts(inner.part({0, 0, inner.columns(), 0}), look, process) + 1;
  const int plots = std::max(inner.rows() / 2, inner.rows() - wanted);
  const int facts = inner.rows() - (plots >= kChartRows ? plots : 0);
  draw_facts(inner.part({0, 0, inner.columns(), facts}), look, process);
  if (plots < kChartRows) return;
  const auto context = make_context(session, look);
  draw_charts(inner.part({0, facts, inner.columns(), plots}), context, make_charts(context, process));
}

void open_details(Session &session) {
  const auto *row = session.processes.chosen_line();
  if (row == nullptr) return session.say("choose a process first");
  if (row->kind == ListRow::Kind::parent || row->kind == ListRow::Kind::child)
    return session.say("this one does not use a GPU itself");
  if (row->kind == ListRow::Kind::process) {
    return session.open(std::make_unique<DetailsPage>(key_of(*row->process)));
  }
  const bool user = session.settings.totals == Totals::user;
  const std::string who(view::text_by_role(row->process->texts.get(), user ? Role::user : Role::job));
  if (auto query = Query::parse((user ? "user:" : "job:") + who); query && !who.empty()) {
    session.processes.filter = std::move(*query);
  }
  session.settings.totals = Totals::off;
  session.refresh();
}

void open_chosen(Session &session) {
  const bool process = session.processes.chosen_line() != nullptr;
  process && !(session.devices.chosen && session.devices.is_newest) ? open_details(session) : open_device_page(session);
}

}  // namespace gpulse::tui
