// SPDX-License-Identifier: Apache-2.0
#include "tui/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/sysroot.hpp"
#include "term/painter.hpp"
#include "term/terminal.hpp"

namespace gpulse::tui {

namespace {

using namespace std::chrono_literals;

// Samples on their way from the thread that waits for them. Shared with it, because it may outlive the view.
struct Mailbox {
  std::mutex mutex;
  std::vector<SnapshotPtr> samples;
  std::optional<Error> error;
  term::Terminal *terminal = nullptr;  // null when nobody draws any more

  void put(Result<SnapshotPtr> sample) {
    const std::lock_guard lock(mutex);
    if (sample) {
      samples.push_back(std::move(*sample));
    } else {
      error = sample.error();
    }
    if (terminal != nullptr) terminal->wake();
  }
};

class Loop {
 public:
  Loop(const LoopOptions &options, term::Terminal &terminal, Timeline &timeline)
      : options_(options), terminal_(terminal), painter_(options.depth), app_(options.app, timeline) {
    file_ = options.remembered;
    began_ = options.app.settings;
    mouse_ = options.app.settings.mouse;
    focus();
  }

  // `take` brings in what has come since the last time.
  Result<void> run(const std::function<Result<void>(App &)> &take) {
    app_.resize(terminal_.size());
    app_.tick(monotonic_now());
    while (!app_.ended()) {
      if (const auto drawn = draw(); !drawn) {
        // Told to end while the terminal took no more: nobody is there to read of it.
        if (terminal_.wait(0ms).stop) break;
        return drawn;
      }
      const auto happened = terminal_.wait(longest_wait());
      if (happened.stop) break;
      if (happened.resized) restart();
      const auto now = monotonic_now();
      for (const auto &input : happened.inputs) app_.handle(input, now);
      if (const auto taken = take(app_); !taken) return taken;
      app_.tick(monotonic_now());
      serve();
    }
    // The screen is as the user wants it; the next start should be too.
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
    if (options_.focus) options_.focus(focus_of(app_.settings()));
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
  term::Painter painter_;
  App app_;
  Settings file_, began_;
  std::vector<MetricId> focused_plots_;
  bool mouse_;
  std::string bytes_;
};

}  // namespace

Result<void> run_live(const LoopOptions &options, GiveSamples give) {
  auto terminal = term::Terminal::open({.mouse = options.app.settings.mouse});
  if (!terminal) return std::unexpected(terminal.error());
  auto mailbox = std::make_shared<Mailbox>();
  mailbox->terminal = terminal->get();
  std::thread([mailbox, give = std::move(give)] {
    give([mailbox](Result<SnapshotPtr> sample) { mailbox->put(std::move(sample)); });
  }).detach();

  LiveTimeline timeline;
  Loop loop(options, **terminal, timeline);
  auto done = loop.run([&](App &app) -> Result<void> {
    std::vector<SnapshotPtr> fresh;
    {
      const std::lock_guard lock(mailbox->mutex);
      fresh.swap(mailbox->samples);
      if (mailbox->error) return std::unexpected(*mailbox->error);
    }
    for (auto &sample : fresh) {
      if (sample == nullptr) continue;
      timeline.add(std::move(sample));
      app.sample_came(monotonic_now());
    }
    return {};
  });
  const std::lock_guard lock(mailbox->mutex);
  mailbox->terminal = nullptr;
  return done;
}

Result<void> run_replay(const LoopOptions &options, record::ReplayFeed &replay) {
  auto terminal = term::Terminal::open({.mouse = options.app.settings.mouse});
  if (!terminal) return std::unexpected(terminal.error());
  ReplayTimeline timeline(replay);
  return Loop(options, **terminal, timeline).run([](App &) { return Result<void>{}; });
}

Result<Settings> load_settings(const std::string &file) {
  std::error_code unused;
  if (file.empty() || !std::filesystem::exists(file, unused)) return default_settings();
  // A device may never end, and must not be replaced when the settings are saved.
  if (!std::filesystem::is_regular_file(file, unused))
    return failure(file + " is not a file", "give one to --settings");
  const auto text = Sysroot().read(std::filesystem::absolute(file).string());
  if (!text) return failure("cannot read " + file, std::strerror(errno));
  return parse_settings(*text, file);
}

Result<void> save_settings(const std::string &file, const Settings &settings) {
  std::error_code error;
  const std::filesystem::path path(file);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  std::stringstream before;
  before << std::ifstream(file, std::ios::binary).rdbuf();
  // Written beside it first: a full disk must not cost the old one.
  const auto beside = file + ".new";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << write_settings(settings, before.str());
  out.close();
  if (!out) {
    auto failed = failure("cannot write " + file, std::strerror(errno));
    std::filesystem::remove(beside, error);
    return failed;
  }
  std::filesystem::rename(beside, path, error);
  if (error) return failure("cannot write " + file, error.message());
  return {};
}

}  // namespace gpulse::tui
