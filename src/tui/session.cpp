// SPDX-License-Identifier: Apache-2.0
#include "tui/session.hpp"

#include <algorithm>

#include "tui/device_panel.hpp"

namespace gpulse::tui {

Session::Session(AppOptions given, feed::Timeline &timeline)
    : options(std::move(given)),
      settings(options.settings),
      playback(timeline,
               {.replay = options.replay, .speed = options.speed, .start = options.start, .paused = options.paused},
               [this](std::uint64_t number) { return show(number); }),
      findings(options.watch),
      host_processes(Sysroot(options.sysroot)),
      interval(options.interval) {
  if (auto filter = Query::parse(options.filter)) processes.filter = std::move(*filter);
}

void Session::say(std::string text, bool bad) {
  constexpr auto kTimeToRead = std::chrono::seconds(6);
  message = Message{std::move(text), bad, now + kTimeToRead};
  requests.draw = true;
}

void Session::sample_came() {
  auto &timeline = playback.timeline();
  if (timeline.empty()) return;
  if (!playback.playing() && snapshot != nullptr) {
    // While the screen stands still, the log goes on.
    const auto newest = timeline.end() - 1;
    const auto before = newest > timeline.first() ? timeline.at(newest - 1) : Result<SnapshotPtr>(SnapshotPtr{});
    if (const auto fresh = timeline.at(newest); fresh && before) note_events(events, before->get(), **fresh);
  }
  playback.sample_came();
  requests.draw = true;
}

bool Session::show(std::uint64_t number) {
  auto &timeline = playback.timeline();
  auto sample = timeline.at(number);
  if (!sample) {
    say(sample.error().line(), true);
    return false;
  }
  const bool next = snapshot != nullptr && number == playback.number() + 1;
  const bool newest = number + 1 == timeline.end();
  // A live view logs every sample once, as it comes; a recording what has been played since the last jump.
  if (options.replay && !next) events.clear();
  if (options.replay || newest) {
    note_events(events, next || !options.replay ? snapshot.get() : nullptr, **sample,
                options.replay ? "since before this moment" : "since before gpulse started");
  }
  findings.show(timeline, number, *sample);
  snapshot = std::move(*sample);
  if (options.part) {
    auto part = options.part(snapshot);
    selection_problem = part ? "" : part.error().line();
    if (part) snapshot = std::move(*part);
  }
  refresh();
  return true;
}

void Session::refresh() {
  requests.draw = true;
  if (snapshot == nullptr) return;
  // Of the past nobody knows what a process had started.
  const auto &timeline = playback.timeline();
  const bool now_shown = !options.replay && (timeline.empty() || snapshot->time >= timeline.time(timeline.end() - 1));
  if (!now_shown) processes.unfolded.clear();
  if (!processes.unfolded.empty()) host_processes.look(now);
  processes.update(*snapshot, settings, host_processes, options.unicode);
}

void Session::tick() {
  if (message && now >= message->until) {
    message.reset();
    requests.draw = true;
  }
  if (snapshot == nullptr) requests.draw = true;  // the wait is shown in seconds
  if (playback.is_reaching_back() && !requests.draw) {
    // The screen says what is going on.
    message.reset();
    if (const auto reached = playback.reach_back(); !reached) say(reached.error().line(), true);
    requests.draw = true;
  }
  const bool before = playback.playing();
  playback.tick(now);
  if (playback.playing() != before) requests.draw = true;
}

Look make_look(const Session &session) {
  return {.theme = &theme(session.settings.theme),
          .style = {.colour = true, .unicode = session.options.unicode, .width = std::max(1, session.size.columns)}};
}

DrawContext make_context(Session &session, const Look &look) {
  return {*session.snapshot, session.playback.number(),
          session.settings,  look,
          session.history,   session.devices.chosen,
          session.hits,      session.playback.replay() || session.playback.in_the_past()};
}

void want_plots(Session &session, std::vector<PlotKey> keys, std::size_t samples) {
  auto all = device_plot_keys(*session.snapshot);
  all.insert(all.end(), keys.begin(), keys.end());
  session.history.want(std::move(all), std::max(samples, kMostSparkSamples));
  session.history.show(session.playback.timeline(), session.playback.number(), *session.snapshot);
}

}  // namespace gpulse::tui
