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

struct Mail {
  SnapshotPtr sample;
  std::optional<feed::ToldFindings> told;
};

// Samples on their way from the thread that takes them.
struct Mailbox {
  std::mutex mutex;
  std::vector<Mail> samples;
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
    if (options_.patience) options_.patience->goes_on = [this](auto so_far) { return goes_on_waiting(so_far); };
    focus();
  }
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;
  ~Loop() {
    if (options_.patience) options_.patience->goes_on = {};
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
      const auto early = std::exchange(early_, {});
      const auto events = terminal_.wait(early.empty() ? longest_wait() : 0ms);
      if (events.stop) break;
      if (events.resized) restart();
      for (const auto &input : early) app_.handle(input, monotonic_now());
      for (const auto &input : events.inputs) app_.handle(input, monotonic_now());
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
    // That nothing comes from elsewhere is nothing that wakes us.
    const std::chrono::milliseconds longest = options_.app.elsewhere ? 1s : 60s;
    const auto due = app_.due();
    if (app_.waiting()) return kWhileWaiting;
    if (!due) return longest;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - monotonic_now());
    return std::clamp(left, 0ms, longest);
  }

  Result<void> draw() {
    if (!app_.changed()) return {};
    bytes_.clear();
    const auto &screen = app_.draw(monotonic_now());
    if (std::exchange(is_painted_over_, false)) painter_.forget();
    painter_.paint(screen, bytes_);
    return bytes_.empty() ? Result<void>{} : terminal_.write(bytes_);
  }

  // A sample is on its way from another machine, and nothing else happens until it is here.
  bool goes_on_waiting(std::chrono::nanoseconds so_far) {
    constexpr auto kSilent = 1s;
    constexpr std::size_t kMostEarly = 64;
    auto events = terminal_.wait(0ms);
    bool goes_on = !events.stop;
    for (auto &input : events.inputs) {
      const auto *key = std::get_if<term::KeyPress>(&input);
      const bool is_escape = key != nullptr && key->key == term::Key::escape;
      const bool is_end = key != nullptr && key->key == term::Key::character &&
                          (key->character == U'q' || (key->ctrl && key->character == U'c'));
      goes_on = goes_on && !is_escape && !is_end;
      if (!is_escape && early_.size() < kMostEarly) early_.push_back(std::move(input));
    }
    if (goes_on && so_far >= kSilent) {
      is_painted_over_ = true;
      const auto seconds = std::chrono::floor<std::chrono::seconds>(so_far).count();
      static_cast<void>(terminal_.write(fmt::format("\x1b[{};1H\x1b[0m\x1b[Kasking the engine: {} s   Esc gives up",
                                                    terminal_.size().rows, seconds)));
    }
    return goes_on;
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
  std::vector<term::Input> early_{};  // while a sample was waited for
  bool is_painted_over_ = false;
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
  const bool is_elsewhere = options.app.elsewhere;
  WallTime first{};  // sample that was told of
  const auto subscription = feed.subscribe([&](const SnapshotPtr &sample) {
    // Here, because the thread that takes the samples must be the one to change it.
    if (const auto wanted = mailbox.interval.exchange({}); wanted != std::chrono::nanoseconds{}) {
      feed.set_interval(wanted);
    }
    std::optional<feed::ToldFindings> told;
    if (is_elsewhere) {
      auto found = feed.findings();
      if (first == WallTime()) first = sample->time;
      told = {.is_known = found.has_value(),
              .all = std::move(found).value_or(std::vector<insight::Finding>{}),
              .begin = first};
    }
    const std::lock_guard lock(mailbox.mutex);
    mailbox.samples.push_back({sample, std::move(told)});
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
    std::vector<Mail> fresh;
    {
      const std::lock_guard lock(mailbox.mutex);
      fresh.swap(mailbox.samples);
      if (mailbox.error) return std::unexpected(*mailbox.error);
    }
    for (auto &mail : fresh) {
      const auto before = std::exchange(held, nullptr);
      if (before != nullptr && before->time < mail.sample->time) timeline.add(before);
      timeline.add(std::move(mail.sample), std::move(mail.told));
      app.sample_came(monotonic_now());
    }
    auto now = feed.warning();
    if (is_elsewhere) {
      app.set_behind(std::move(now), monotonic_now());
    } else if (now != warning) {
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
