// SPDX-License-Identifier: Apache-2.0
// What the view looks like.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tui/app.hpp"
#include "tui/chart.hpp"
#include "tui/device_panel.hpp"
#include "tui/host_panel.hpp"
#include "tui/plot_panel.hpp"
#include "view/cell.hpp"
#include "view/device_cells.hpp"
#include "view/process_cells.hpp"

namespace gpulse::tui {

using term::Area;
using term::Colour;
using term::Span;

namespace {

struct Hint {
  Action action;
  std::string_view key, text;
};
constexpr std::array kHints{
    Hint{Action::help, "?", "Help"},           Hint{Action::quit, "q", "Quit"},
    Hint{Action::search, "/", "Search"},       Hint{Action::filter, "\\", "Filter"},
    Hint{Action::sort_menu, "s", "Sort"},      Hint{Action::tree, "t", "Tree"},
    Hint{Action::details, "Enter", "Details"}, Hint{Action::signal_menu, "K", "Signal"},
    Hint{Action::setup, "S", "Setup"},         Hint{Action::pause, "p", "Pause"},
    Hint{Action::plots_menu, "d", "Plots"},    Hint{Action::totals, "v", "Totals"},
    Hint{Action::theme, "w", "Theme"},
};

std::string duration(std::chrono::nanoseconds time) {
  return view::short_duration(std::chrono::duration<double>(time).count());
}

std::vector<MetricId> detail_plots() {
  std::vector<MetricId> ids;
  for (const auto role : {Role::utilization, Role::memory_used, Role::cpu, Role::host_memory}) {
    if (const auto id = find_role(Scope::process, role)) ids.push_back(*id);
  }
  return ids;
}

}  // namespace

Look App::make_look() const {
  const auto size = screen_.size();
  return {.theme = &theme(settings_.theme),
          .style = {.colour = true, .unicode = options_.unicode, .width = std::max(1, size.columns)}};
}

Scene App::make_scene(const Look &look) { return {*current_, number_, settings_, look, series_, device_, hits_}; }

PanelNeeds App::make_needs() const {
  PanelNeeds needs;
  needs.devices_compact = device_panel_rows(*current_, false);
  needs.devices_full = device_panel_rows(*current_, true);
  needs.device_count = current_->devices.size();
  needs.host = host_panel_rows(*current_, std::max(1, screen_.size().columns - 2));
  needs.processes = 1 + std::max(1, static_cast<int>(std::min<std::size_t>(list_.rows.size(), 100'000)));
  needs.events = static_cast<int>(std::min<std::size_t>(log_.size(), 100));
  needs.charts = plot_count(*current_, settings_);
  return needs;
}

void App::want_series(const Layout &layout) {
  auto keys = device_series(*current_);
  std::size_t samples = kMostSparkColumns;
  const bool plots = std::ranges::any_of(layout.panels, [](const Placed &each) { return each.panel == Panel::plots; });
  if (plots) {
    const auto more = plot_series(*current_, settings_);
    keys.insert(keys.end(), more.begin(), more.end());
  }
  if (view_ == View::details && detailed_) {
    for (const auto id : detail_plots()) keys.push_back({detailed_->device, detailed_->pid, id.index});
  }
  if (plots || view_ == View::details)
    samples = std::max(samples, chart_samples(screen_.size().columns, settings_, options_.unicode));
  series_.want(std::move(keys), samples);
  series_.show(timeline_, number_, *current_);
}

const term::Screen &App::draw(Monotonic now) {
  changed_ = false;
  hits_.clear();
  const auto look = make_look();
  screen_.clear(look.theme->text);
  const Area area(screen_);
  if (area.empty()) return screen_;
  if (current_ == nullptr && !waiting_since_) waiting_since_ = now;
  switch (view_) {
    case View::main:
      current_ == nullptr ? draw_waiting(area, look, now) : draw_main(area);
      break;
    case View::details:
      draw_details(area, look);
      break;
    case View::text:
      draw_text_view(area, look, text_);
      break;
    case View::setup:
      draw_setup(area, look);
      break;
  }
  if (menu_) {
    hits_.clear();
    draw_menu(area, look, *menu_, hits_);
  }
  if (question_) {
    hits_.clear();
    draw_question(area, look);
  }
  const auto bottom = area.row(area.rows() - 1);
  // Keys that are covered are not there to be clicked on.
  if (prompt_ || message_) std::erase_if(hits_, [](const Hit &hit) { return hit.kind == Hit::Kind::key; });
  if (prompt_) {
    draw_prompt(bottom, look, *prompt_);
  } else if (message_) {
    bottom.fill(look.theme->text);
    bottom.put(0, 0, term::cut(term::clean(message_->text, options_.unicode), bottom.columns(), look.style.ellipsis()),
               message_->bad ? look.theme->bad : look.theme->accent);
  }
  return screen_;
}

void App::draw_waiting(const Area &area, const Look &look, Monotonic now) const {
  const auto since = waiting_since_.value_or(now);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - since).count();
  const auto text = seconds < 1
                        ? fmt::format("looking for GPUs {}", look.style.ellipsis())
                        : fmt::format("waiting for the driver to answer {} {} s", look.style.ellipsis(), seconds);
  area.put(0, 0, text, look.theme->dim);
  if (area.rows() > 1) area.put(0, 1, "q quits", look.theme->dim);
}

void App::draw_main(const Area &area) {
  auto look = make_look();
  const auto layout = lay_out(screen_.size(), settings_, make_needs());
  look.boxed = layout.boxed;
  want_series(layout);
  if (!layout.header.empty()) draw_header(area.part(layout.header), look);
  draw_panels(layout, make_scene(look));
  if (!layout.footer.empty()) draw_footer(area.part(layout.footer), look);
}

void App::draw_panels(const Layout &layout, const Scene &scene) {
  const Area whole(screen_);
  for (const auto &[panel, where] : layout.panels) {
    const auto area = whole.part(where);
    hits_.push_back({area.rect(), Hit::Kind::panel, static_cast<std::size_t>(panel)});
    switch (panel) {
      case Panel::devices:
        draw_devices(area, scene, layout.two_lines, first_device_, std::exchange(bring_device_into_sight_, false));
        break;
      case Panel::plots:
        draw_plots(area, scene);
        break;
      case Panel::processes:
        draw_processes(area, scene, list_, panel_, std::exchange(bring_into_sight_, false) || follow_);
        break;
      case Panel::host:
        draw_host(area, scene);
        break;
      case Panel::events:
        draw_events(area, scene, log_);
        break;
    }
  }
}

// "LIVE", "PAUSED", "2:07 ago", "▶ 3:20 of 12:00"
std::vector<Span> App::state_spans() const {
  if (timeline_.empty()) return {};
  const auto first = timeline_.time(timeline_.first());
  const auto last = timeline_.time(timeline_.end() - 1);
  const auto here = timeline_.time(number_);
  if (options_.replay) {
    const std::string_view sign = options_.unicode ? (playing_ ? "▶" : "‖") : (playing_ ? ">" : "||");
    auto text = fmt::format("{} {} of {}", sign, duration(here - first), duration(last - first));
    if (options_.speed != 1) text += fmt::format(" x{:g}", options_.speed);
    return {{std::move(text), playing_ ? Colour::good : Colour::warn}};
  }
  if (playing_) return {{fmt::format("LIVE {:g}s", options_.interval.count()), Colour::good}};
  if (in_the_past()) return {{fmt::format("PAUSED {} ago", duration(last - here)), Colour::warn}};
  return {{"PAUSED", Colour::warn}};
}

void App::draw_header(const Area &area, const Look &look) const {
  const auto &snapshot = *current_;
  std::vector<Span> spans;
  if (!snapshot.origin.empty()) {
    spans.push_back({fmt::format(" {} ", term::clean(snapshot.origin, options_.unicode)), Colour::mark});
    spans.push_back({" "});
  }
  spans.push_back({term::clean(snapshot.hostname, options_.unicode), Colour::bold});
  const auto time = has_time(snapshot) ? local_time(snapshot.time, "%a %Y-%m-%d %H:%M:%S") : "time unknown";
  spans.push_back({(snapshot.hostname.empty() ? "" : "  ") + time});
  std::set<std::string> drivers;
  for (const auto &device : snapshot.devices) {
    if (device.identity && !device.identity->driver.empty()) {
      drivers.insert(fmt::format("{} {}", device.identity->vendor, device.identity->driver));
    }
  }
  for (const auto &driver : drivers) spans.push_back({"  " + term::clean(driver, options_.unicode), Colour::dim});
  std::string trouble = trouble_;
  for (const auto &source : snapshot.sources) {
    if (!source.problem.empty())
      trouble += fmt::format("{}{}: {}", trouble.empty() ? "" : "; ", source.name, source.problem);
  }
  if (!trouble.empty()) spans.push_back({"  ! " + term::clean(trouble, options_.unicode), Colour::warn});
  const auto state = state_spans();
  const int right = term::width(state);
  const int room = area.columns() - right - 2;
  if (room < 10) {
    put_spans(area, 0, 0, state, look, area.columns());
    return;
  }
  put_spans(area, 0, 0, spans, look, room);
  put_spans(area, area.columns() - right, 0, state, look, right);
}

void App::draw_footer(const Area &area, const Look &look) {
  int x = 0;
  for (const auto &hint : kHints) {
    const int width = term::width(hint.key) + 1 + term::width(hint.text);
    if (x + width > area.columns()) break;
    const int from = x;
    x += area.put(x, 0, hint.key, look.theme->key) + 1;
    x += area.put(x, 0, hint.text, look.theme->key_text);
    hits_.push_back({area.part({from, 0, x - from, 1}).rect(), Hit::Kind::key, static_cast<std::size_t>(hint.action)});
    x += 2;
  }
}

void App::draw_question(const Area &area, const Look &look) {
  constexpr std::size_t kMostLines = 8;
  const char *name = ::sigabbrev_np(question_->signal);
  const auto title = fmt::format("Send SIG{} to {} process{}?", name != nullptr ? name : "?", question_->targets.size(),
                                 question_->targets.size() == 1 ? "" : "es");
  std::vector<std::pair<std::string, Colour>> lines;
  for (const auto &target : question_->targets) {
    if (lines.size() == kMostLines) {
      lines.emplace_back(fmt::format("and {} more", question_->targets.size() - kMostLines), Colour::dim);
      break;
    }
    lines.emplace_back(target.words, Colour::plain);
  }
  for (const auto &refused : question_->refused) lines.emplace_back("not " + refused, Colour::warn);
  int width = term::width(title) + 4;
  for (const auto &[text, colour] : lines) width = std::max(width, term::width(text));
  const auto inner =
      open_window(area, look, title, std::min(width, area.columns() - 6), static_cast<int>(lines.size()) + 2);
  int y = 0;
  const int last = inner.rows() - 1;
  for (const auto &[text, colour] : lines) {
    if (y >= last) break;
    inner.put(0, y++, term::cut(term::clean(text, options_.unicode), inner.columns(), look.style.ellipsis()),
              look.ink(colour));
  }
  int x = 0;
  for (const bool yes : {false, true}) {
    const std::string_view text = yes ? " y Yes " : " n No ";
    const auto button = inner.part({x, last, term::width(text), 1});
    button.put(0, 0, text, yes == question_->yes ? look.theme->key : look.theme->key_text);
    hits_.push_back({button.rect(), Hit::Kind::item, yes ? std::size_t{1} : std::size_t{0}});
    x += term::width(text) + 2;
  }
}

void App::draw_setup(const Area &area, const Look &look) {
  Look boxed = look;
  boxed.boxed = area.rows() >= 8 && area.columns() >= 40;
  const auto inner =
      open_panel(area, boxed, "Setup", "Space changes   + - move   Tab next page   W saves   Esc closes");
  int x = 0;
  for (std::size_t i = 0; i < setup_.size(); ++i) {
    const auto text = fmt::format(" {} ", setup_[i].title);
    const int width = inner.put(x, 0, text, i == setup_page_ ? look.theme->key : look.theme->key_text);
    hits_.push_back({inner.part({x, 0, width, 1}).rect(), Hit::Kind::tab, i});
    x += width + 1;
  }
  draw_menu_items(inner.part({0, 2, inner.columns(), inner.rows() - 2}), look, setup_[setup_page_], hits_);
}

void App::draw_details(const Area &area, const Look &look) {
  Look boxed = look;
  boxed.boxed = area.rows() >= 16 && area.columns() >= 60;
  const auto found = std::ranges::find_if(
      current_->processes, [&](const Process &process) { return detailed_ && key_of(process) == *detailed_; });
  Layout none;
  want_series(none);
  if (found == current_->processes.end()) {
    const auto inner = open_panel(area, boxed, fmt::format("Process {}", detailed_ ? detailed_->pid : 0), "Esc closes");
    inner.put(0, 0, in_the_past() || options_.replay ? "not there at this time" : "it has ended", look.theme->warn);
    return;
  }
  const auto &process = *found;
  const auto title = fmt::format("Process {} on GPU {}", process.pid, process.device);
  const auto inner = open_panel(area, boxed, title, "Esc closes   ? help");
  const int wanted = draw_details_facts(inner.part({0, 0, inner.columns(), 0}), look, process) + 1;
  const int plots = std::max(inner.rows() / 2, inner.rows() - wanted);
  const int facts = inner.rows() - (plots >= kChartRows ? plots : 0);
  draw_details_facts(inner.part({0, 0, inner.columns(), facts}), look, process);
  if (plots < kChartRows) return;
  const auto scene = make_scene(look);
  std::vector<Chart> charts;
  for (const auto id : detail_plots()) {
    const auto &metric = describe(id);
    if (process.row[id].is(Reason::not_supported)) continue;
    ChartCurve curve{.name = std::string(), .value = {}, .key = {process.device, process.pid, id.index}};
    curve.value = process.row[id] ? view::short_value(look.style, metric, process.row[id].value())
                                  : std::string(look.style.dash());
    double most = metric.unit == Unit::percent ? 100 : 0;
    for (const auto value : series_.values(curve.key)) most = std::max(most, static_cast<double>(value));
    curve.high = metric.unit == Unit::percent && most <= 100 ? 100 : nice_scale(most, metric.unit);
    charts.push_back({std::string(metric.label), {curve}, view::short_value(look.style, metric, curve.high)});
  }
  draw_charts(inner.part({0, facts, inner.columns(), plots}), scene, charts);
}

// Every number and text of the process, or why there is none; then the whole command line. Gives the lines it takes.
int App::draw_details_facts(const Area &area, const Look &look, const Process &process) const {
  constexpr int kColumn = 40;
  const int across = std::max(1, area.columns() / kColumn);
  const int wide = area.columns() / across;
  int place = 0;
  const auto fact = [&](std::string_view name, const std::vector<Span> &value) {
    const int x = place % across * wide;
    const int y = place / across;
    ++place;
    const int used = area.put(x, y, term::pad(name, 11), look.theme->dim);
    put_spans(area, x + used, y, value, look, wide - used - 1);
  };
  fact("TYPE", {{type_word(process.types)}});
  for_each_metric(Scope::process, [&](MetricId id, const Metric &metric) {
    if (is_text(metric)) {
      if (metric.role == Role::command || process.texts == nullptr || !(*process.texts)[id]) return;
      fact(metric.label, {{term::clean((*process.texts)[id].value(), options_.unicode)}});
      return;
    }
    const auto &reading = process.row[id];
    if (reading.is(Reason::not_supported)) return;
    if (reading) {
      fact(metric.label, view::value_cell(look.style, metric, reading).spans);
    } else {
      fact(metric.label, {{reason_text(reading), Colour::dim}});
    }
  });
  int y = (place + across - 1) / across;
  const auto command = view::command_cell(process, look.style).spans.front().text;
  std::string_view name = "COMMAND";
  for (const auto &line : term::wrap(command, std::max(1, wide * across - 11))) {
    const int used = area.put(0, y, term::pad(std::exchange(name, ""), 11), look.theme->dim);
    area.put(used, y++, line, look.theme->text);
  }
  return y;
}

}  // namespace gpulse::tui
