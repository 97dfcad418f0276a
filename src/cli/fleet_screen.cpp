// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_screen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <variant>

#include "cli/engine_options.hpp"
#include "cli/host_view.hpp"
#include "cli/output.hpp"
#include "cli/top_screen.hpp"
#include "fleet/fleet_browser.hpp"
#include "fleet/fleet_watch.hpp"
#include "term/terminal.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;
using term::Terminal;

// Told by the thread that asks. The terminal is there only while the overview is.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    has_rung_ = true;
    if (terminal_ != nullptr) terminal_->wake();
    rang_.notify_all();
  }
  void set_terminal(Terminal *terminal) {
    const std::lock_guard lock(mutex_);
    terminal_ = terminal;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    rang_.wait(lock, [&] { return has_rung_; });
    has_rung_ = false;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable rang_;
  Terminal *terminal_ = nullptr;
  bool has_rung_ = false;
};

// Writes the lines that have changed.
class LineScreen {
 public:
  void forget() { shown_.clear(); }

  std::string changes(const std::vector<std::string> &lines) {
    std::string bytes;
    if (shown_.size() != lines.size()) {
      shown_.assign(lines.size(), {});
      bytes = "\x1b[2J";
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i] == shown_[i]) continue;
      bytes += fmt::format("\x1b[{};1H\x1b[K{}", i + 1, lines[i]);
      shown_[i] = lines[i];
    }
    return bytes;
  }

 private:
  std::vector<std::string> shown_{};
};

// What ends a visit to the overview.
struct Left {
  std::optional<fleet::FleetHost> host{};  // it is to be shown in depth; none: the program is to end
};

// The overview, until the user leaves it.
Result<Left> walk(const Options &options, fleet::FleetBrowser &browser, fleet::FleetWatch &watch, Bell &bell) {
  auto opened = Terminal::open({.mouse = false});
  if (!opened) return std::unexpected(opened.error());
  auto &terminal = **opened;
  bell.set_terminal(&terminal);
  const std::unique_ptr<Bell, void (*)(Bell *)> unset(&bell, [](Bell *one) { one->set_terminal(nullptr); });
  LineScreen screen;
  while (true) {
    browser.take(watch.news());
    const auto size = terminal.size();
    auto style = screen_style(options);
    style.width = options.width > 0 ? std::min(static_cast<int>(options.width), size.columns) : size.columns;
    const auto bytes = screen.changes(browser.draw(style, size.rows, monotonic_now()));
    if (!bytes.empty()) {
      if (const auto written = terminal.write(bytes); !written) {
        // Asked to stop while the terminal was blocked: nobody is there to read an error.
        return terminal.wait(0ms).stop ? Result<Left>(Left{}) : std::unexpected(written.error());
      }
    }
    // While it is asked, the last line counts the seconds.
    const auto events = terminal.wait(watch.news().is_asking ? 1000ms : 60'000ms);
    if (events.stop) return Left{};
    if (events.resized) screen.forget();
    for (const auto &input : events.inputs) {
      if (const auto *press = std::get_if<term::KeyPress>(&input)) {
        if (press->key == term::Key::character && press->ctrl && press->character == U'z') {
          terminal.suspend();
          screen.forget();
          continue;
        }
        browser.handle(*press, wall_now());
      } else if (const auto *paste = std::get_if<term::Paste>(&input)) {
        browser.paste(paste->text);
      }
    }
    if (browser.is_over()) return Left{};
    if (const auto moment = browser.take_moment()) watch.look_at(moment->at);
    if (auto host = browser.take_host()) return Left{std::move(host)};
  }
}

// None: there has been an answer. A first look that fails is an error of the command, as without --watch.
std::optional<Error> first_trouble(const fleet::FleetWatch &watch, Bell &bell) {
  const SlowNotice notice(fmt::format("asking {}", watch.place()));
  while (true) {
    const auto news = watch.news();
    if (news.fleet != nullptr || !news.trouble.empty()) {
      return news.fleet != nullptr ? std::nullopt : std::optional(Error{news.trouble.str(), news.hint.str()});
    }
    bell.wait();
  }
}

}  // namespace

bool has_fleet_screen(const Options &options) {
  const bool is_stream =
      options.json || options.csv || options.count || is_given(options, "-n") || is_given(options, "--top");
  return !is_stream && ::isatty(STDIN_FILENO) == 1 && !why_no_screen("gpulse fleet --watch", {}) &&
         ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

int run_fleet_screen(const Options &options, const fleet::EngineOptions &engine, fleet::FleetQuestion question) {
  // How lines are sorted here says nothing of processes there.
  auto of_host = options;
  of_host.sort.clear();
  const auto look = top_look(of_host);
  if (!look) return fail(look.error(), kUsage);
  Bell bell;
  fleet::FleetWatch watch({.engine = engine, .interval = options.fleet_interval, .changed = [&bell] { bell.ring(); }});
  if (const auto trouble = first_trouble(watch, bell)) return fail(*trouble);
  if (watch.news().fleet->hosts.empty()) return fail(no_gpus_known(watch.place()));
  fleet::FleetBrowser browser(std::move(question));
  while (true) {
    auto left = walk(options, browser, watch, bell);
    if (!left) return fail(left.error());
    if (!left->host || Terminal::was_stopped()) return kGood;
    const auto shown = show_host(of_host, *look, engine, *left->host, {.at = watch.news().at, .goes_back = true});
    if (Terminal::was_stopped()) return kGood;
    if (!shown) browser.say(shown.error().line());
  }
}

}  // namespace gpulse::cli
