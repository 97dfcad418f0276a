// SPDX-License-Identifier: Apache-2.0
#include "tui/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "view/cell.hpp"

namespace gpulse::tui {

using term::Colour;
using term::Span;

namespace {

std::string duration(std::chrono::nanoseconds time) {
  return view::short_duration(std::chrono::duration<double>(time).count());
}

// "LIVE 1s", "PAUSED", "PAUSED 2:07 ago", "▶ 3:20 of 12:00"
std::vector<Span> playback_spans(const Session &session) {
  const auto &playback = session.playback;
  const auto &timeline = playback.timeline();
  if (timeline.empty()) return {};
  const auto first = timeline.time(timeline.first());
  const auto last = timeline.time(timeline.end() - 1);
  const auto here = timeline.time(playback.number());
  const bool playing = playback.playing();
  if (playback.replay()) {
    const std::string_view sign = session.options.unicode ? (playing ? "▶" : "‖") : (playing ? ">" : "||");
    auto text = fmt::format("{} {} of {}", sign, duration(here - first), duration(last - first));
    if (session.options.speed != 1) text += fmt::format(" x{:g}", session.options.speed);
    return {{std::move(text), playing ? Colour::good : Colour::warn}};
  }
  if (playing && !session.behind.empty()) {
    return {{fmt::format("OLD {}", duration(wall_now() - here)), Colour::bad}};
  }
  if (playing) return {{fmt::format("LIVE {:g}s", session.interval.count()), Colour::good}};
  if (playback.in_the_past()) return {{fmt::format("PAUSED {} ago", duration(last - here)), Colour::warn}};
  return {{"PAUSED", Colour::warn}};
}

std::string problems(const Session &session) {
  std::string text = session.selection_problem;
  if (!session.behind.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", session.behind);
  for (const auto &source : session.snapshot->sources) {
    if (source.problem.empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", source.name, source.problem);
  }
  return text;
}

std::vector<Span> machine_spans(const Session &session) {
  const auto &snapshot = *session.snapshot;
  const bool unicode = session.options.unicode;
  std::vector<Span> spans;
  if (!snapshot.origin.empty()) {
    spans.push_back({fmt::format(" {} ", term::clean(snapshot.origin, unicode)), Colour::mark});
    spans.push_back({" "});
  }
  spans.push_back({snapshot.hostname.empty() ? "host unknown" : term::clean(snapshot.hostname, unicode), Colour::bold});
  const auto time = has_time(snapshot) ? local_time(snapshot.time, "%a %Y-%m-%d %H:%M:%S") : "time unknown";
  spans.push_back({"  " + time});
  std::set<std::string> drivers;
  for (const auto &device : snapshot.devices) {
    if (device.identity && !device.identity->driver.empty()) {
      drivers.insert(fmt::format("{} {}", device.identity->vendor, device.identity->driver));
    }
  }
  for (const auto &driver : drivers) spans.push_back({"  " + term::clean(driver, unicode), Colour::dim});
  if (const auto text = problems(session); !text.empty()) {
    spans.push_back({"  ! " + term::clean(text, unicode), Colour::warn});
  }
  return spans;
}

// What is left out of the list of processes, and how much that is: "filter user:ann: 12 hidden".
std::vector<Span> filter_spans(const Session &session) {
  const auto &table = session.processes;
  std::string text;
  if (!table.filter.empty()) text = "filter " + table.filter.text();
  if (session.settings.only != OnlyType::all) {
    text += fmt::format("{}only {}", text.empty() ? "" : ", ", word(session.settings.only));
  }
  if (text.empty()) return {};
  constexpr int kLongest = 32;
  text = term::cut(term::clean(text, session.options.unicode), kLongest, session.options.unicode ? "…" : "..");
  return {{fmt::format(" {}: {} hidden ", text, table.list.hidden), Colour::mark}, {"  "}};
}

}  // namespace

void draw_header(const term::Area &area, const Look &look, const Session &session) {
  auto state = filter_spans(session);
  std::ranges::move(playback_spans(session), std::back_inserter(state));
  const int right = term::width(state);
  const int room = area.columns() - right - 2;
  if (room < 10) {
    put_spans(area, 0, 0, state, look, area.columns());
    return;
  }
  put_spans(area, 0, 0, machine_spans(session), look, room);
  put_spans(area, area.columns() - right, 0, state, look, right);
}

}  // namespace gpulse::tui
