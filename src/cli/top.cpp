// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/clock.hpp"
#include "cli/choice.hpp"
#include "cli/engine_options.hpp"
#include "cli/history_file.hpp"
#include "cli/host_view.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/top_screen.hpp"
#include "feed/history_feed.hpp"
#include "feed/timeline.hpp"

namespace gpulse::cli {

namespace {

// What the agent has kept, as a recording.
Result<feed::Feed *> open_since(const Options &options, const feed::Options &reading) {
  const auto file = history_to_read(options.history);
  if (!file) return std::unexpected(file.error());
  const auto now = wall_now();
  const auto from = std::max(now - *options.since, WallTime{});
  // A clock that has been set back since must not hide what is newest.
  const auto to = now + std::chrono::days(1);
  auto feed = feed::open_history(*file, {from, to}, reading);
  if (!feed) return std::unexpected(feed.error());
  return feed->release();
}

// Before what is seen live comes what the agent has kept; where that cannot be read, nothing.
feed::JoinedTimeline::OpenPast past_of(const Options &options, const feed::Options &reading) {
  // A history is of the whole machine, as an agent sees it.
  if (!reading.agent && options.history.empty()) return {};
  return [wanted = options.history](WallTime before) -> Result<std::unique_ptr<feed::Timeline>> {
    const auto file = history_to_read(wanted);
    if (!file) return nullptr;
    auto past = feed::open_past(*file, {WallTime{}, before});
    return past ? std::move(*past) : nullptr;
  };
}

// Where it begins: a recording at its start, a history at what is newest, for who wants to look back from there.
void set_start(const Options &options, feed::Timeline &recording, tui::AppOptions &app) {
  if (options.at) {
    app.start = recording.find(recording.time(recording.first()) + *options.at);
  } else if (options.since) {
    app.start = recording.end() - 1;
    app.paused = true;
  }
}

}  // namespace

int run_top(const Options &options) {
  if (is_given(options, "--host")) return run_top_of_host(options);
  if (is_given(options, "--url")) return fail({"--url needs --host", "gpulse fleet lists the hosts"}, kUsage);
  // A terminal does not help whoever names a recording that is not there; no driver is opened without one.
  const bool recorded = options.since || !options.replay.empty();
  const auto no_screen = why_no_screen("gpulse top", "use gpulse --watch for a stream");
  if (no_screen && !recorded) return fail(*no_screen);
  const auto look = top_look(options);
  if (!look) return fail(look.error(), kUsage);
  if (options.since && (options.demo || !options.replay.empty())) {
    return fail({"--since is for the history", "leave out --replay and --demo"}, kUsage);
  }
  auto reading = feed_options(options);
  reading.continuous = true;
  reading.notice = {};  // told on the screen
  const auto opened = options.since ? open_since(options, reading) : open_feed(reading);
  if (!opened) return fail(opened.error());
  if (no_screen) return fail(*no_screen);
  auto &feed = **opened;

  auto loop = loop_options(options, *look, feed.is_live());
  Choice choice(options, feed.is_live());
  if (!choice.is_everything()) {
    loop.app.part = [&choice](const SnapshotPtr &sample) { return choice.part_of(sample); };
  }
  if (auto *recording = feed.recording(); recording != nullptr) {
    set_start(options, *recording, loop.app);
  } else {
    loop.open_past = past_of(options, reading);
  }
  const auto done = tui::run(loop, feed);
  return done ? kGood : fail(done.error());
}

}  // namespace gpulse::cli
