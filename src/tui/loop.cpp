// SPDX-License-Identifier: Apache-2.0
#include "tui/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "base/file.hpp"
#include "base/program_pages.hpp"
#include "feed/timeline.hpp"
#include "term/painter.hpp"
#include "term/terminal.hpp"

namespace gpulse::tui {

namespace {

using namespace std::chrono_literals;

constexpr auto kSettlesWithin = 5s;

// Samples on their way from the thread that takes them.
struct Mailbox {
  std::mutex mutex;
  std::vector<SnapshotPtr> samples;
  std::optional<Error> error;
  std::atomic<std::chrono::nanoseconds> interval{};  // what the user wants from now on; 0: as it is
};

class Loop {
 public:
  Loop(const LoopOptions &options, term::Terminal &terminal, feed::Feed &feed, feed::Timeline &timeline)
      : options_(options), terminal_(terminal), feed_(feed), painter_(options.depth), app_(options.app, timeline) {
    file_ = options.remembered;
    began_ = options.app.settings;
    mouse_ = options.app.settings.mouse;
    focus();
  }

  // `take` hands over the samples that have come since the last call.
  Result<void> run(const std::function<Result<void>(App &)> &take) {
    app_.resize(terminal_.size());
    app_.tick(monotonic_now());
    while (!app_.ended()) {
      if (const auto drawn = draw(); !drawn) {
        // Asked to stop while the terminal was blocked: nobody is there to read an error.
        if (terminal_.wait(0ms).stop) break;
        return drawn;
      }
      const auto events = terminal_.wait(longest_wait());
      if (events.stop) break;
      if (events.resized) restart();
      const auto now = monotonic_now();
      for (const auto &input : events.inputs) app_.handle(input, now);
      if (const auto taken = take(app_); !taken) return taken;
      app_.tick(monotonic_now());
      serve();
    }
    // The next start should look like this one does now.
    const auto wanted = to_remember(file_, began_, app_.settings());
    if (options_.settings_file.empty() || wanted == file_) return {};
    return save_settings(options_.settings_file, wanted);
  }

 private:
  std::chrono::milliseconds longest_wait() const {
    constexpr std::chrono::milliseconds kWhileWaiting = 500ms;
    constexpr std::chrono::milliseconds kLongest = 60s;
    const auto due = app_.due();
    if (app_.waiting()) return kWhileWaiting;
    if (!due) return kLongest;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - monotonic_now());
    return std::clamp(left, 0ms, kLongest);
  }

  Result<void> draw() {
    if (!app_.changed()) return {};
    bytes_.clear();
    painter_.paint(app_.draw(monotonic_now()), bytes_);
    return bytes_.empty() ? Result<void>{} : terminal_.write(bytes_);
  }

  void restart() {
    painter_.forget();
    app_.resize(terminal_.size());
  }

  void focus() {
    feed_.focus(focus_of(app_.settings()));
    focused_plots_ = app_.settings().plots;
  }

  void serve() {
    if (app_.settings().plots != focused_plots_) focus();
    if (app_.take_suspend()) {
      terminal_.suspend();
      restart();
    }
    if (app_.take_redraw()) restart();
    if (app_.settings().mouse != mouse_) terminal_.set_mouse(mouse_ = app_.settings().mouse);
    if (app_.take_save()) save();
  }

  void save() {
    const auto now = monotonic_now();
    if (options_.settings_file.empty())
      return app_.say("there is no file to save to: --settings FILE names one", now, true);
    const auto done = save_settings(options_.settings_file, app_.settings());
    if (done) file_ = began_ = app_.settings();
    app_.say(done ? "saved in " + options_.settings_file : done.error().line(), now, !done);
  }

  const LoopOptions &options_;
  term::Terminal &terminal_;
  feed::Feed &feed_;
  term::Painter painter_;
  App app_;
  Settings file_, began_;
  std::vector<MetricId> focused_plots_;
  bool mouse_;
  std::string bytes_;
};

// Draws on this thread; the samples are taken on another.
Result<void> run_live(const LoopOptions &options, term::Terminal &terminal, feed::Feed &feed) {
  Mailbox mailbox;
  feed::LiveTimeline timeline;
  auto past = feed.past();
  // The newest of them is most likely the one that the feed begins with.
  SnapshotPtr held = past.empty() ? nullptr : std::exchange(past.back(), nullptr);
  if (held != nullptr) past.pop_back();
  for (auto &sample : past) timeline.add(std::move(sample));
  feed::JoinedTimeline joined(timeline, options.open_past);
  Loop loop(options, terminal, feed, joined);
  auto warning = feed.warning();  // who opened the feed has told of this one
  const auto subscription = feed.subscribe([&](const SnapshotPtr &sample) {
    // Here, because the thread that takes the samples must be the one to change it.
    if (const auto wanted = mailbox.interval.exchange({}); wanted != std::chrono::nanoseconds{}) {
      feed.set_interval(wanted);
    }
    const std::lock_guard lock(mailbox.mutex);
    mailbox.samples.push_back(sample);
    terminal.wake();
  });
  const std::jthread sampling([&](const std::stop_token &stop) {
    const auto done = feed.run(stop);
    if (done) return;
    const std::lock_guard lock(mailbox.mutex);
    mailbox.error = done.error();
    terminal.wake();
  });
  auto interval = options.app.interval;
  // Whatever is needed only once has been by then.
  auto settled = monotonic_now() + kSettlesWithin;
  return loop.run([&](App &app) -> Result<void> {
    if (monotonic_now() > settled) {
      release_program_pages();
      settled = Monotonic::max();
    }
    if (app.interval() != interval) {
      interval = app.interval();
      mailbox.interval = std::chrono::duration_cast<std::chrono::nanoseconds>(interval);
    }
    std::vector<SnapshotPtr> fresh;
    {
      const std::lock_guard lock(mailbox.mutex);
      fresh.swap(mailbox.samples);
      if (mailbox.error) return std::unexpected(*mailbox.error);
    }
    for (auto &sample : fresh) {
      const auto before = std::exchange(held, nullptr);
      if (before != nullptr && before->time < sample->time) timeline.add(before);
      timeline.add(std::move(sample));
      app.sample_came(monotonic_now());
    }
    if (auto now = feed.warning(); now != warning) {
      warning = std::move(now);
      if (!warning.empty()) app.say(warning, monotonic_now(), true);
    }
    return {};
  });
}

}  // namespace

Result<void> run(const LoopOptions &options, feed::Feed &feed) {
  const auto terminal = term::Terminal::open({.mouse = options.app.settings.mouse});
  if (!terminal) return std::unexpected(terminal.error());
  auto *recording = feed.recording();
  if (recording == nullptr) return run_live(options, **terminal, feed);
  return Loop(options, **terminal, feed, *recording).run([](App &) { return Result<void>{}; });
}

Result<Settings> load_settings(const std::string &file) {
  std::error_code unused;
  if (file.empty() || !std::filesystem::exists(file, unused)) return default_settings();
  const auto text = read_small_file(file);
  if (!text) return failure(text.error().line(), "give another one to --settings");
  return parse_settings(*text, file);
}

Result<void> save_settings(const std::string &file, const Settings &settings) {
  std::error_code unused;
  const std::filesystem::path path(file);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), unused);
  return replace_file(file, write_settings(settings, read_small_file(file).value_or("")));
}

}  // namespace gpulse::tui
