// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

}  // namespace

[[gnu::hot]] Result<void> write_out(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text)) {
    return failure(fmt::format("cannot write the output: {}", std::strerror(errno)));
  }
  return {};
}

bool tell(std::string_view text) noexcept { return write_without_signal(STDERR_FILENO, text); }

void complain(std::string_view line) { tell(fmt::format("gpulse: {}\n", printable(line))); }

int fail(const Error &error, int code) {
  complain(error.line());
  return code;
}

std::optional<bool> confirm(std::string_view question) {
  if (::isatty(STDIN_FILENO) != 1) return std::nullopt;
  if (!tell(fmt::format("{} [y/N] ", printable(question)))) return std::nullopt;
  std::array<char, 16> line{};
  if (std::fgets(line.data(), static_cast<int>(line.size()), stdin) == nullptr) return false;
  const std::string_view answer = trim(line.data());
  return answer == "y" || answer == "Y" || answer == "yes";
}

std::string absence(const Snapshot &snapshot) {
  std::string why;
  for (const auto &source : snapshot.sources) {
    const auto line = Error{source.problem, source.remedy}.line();
    // Several sources may have the same problem.
    if (!source.problem.empty() && !why.contains(line)) why += (why.empty() ? "" : "; ") + line;
  }
  return why;
}

std::string config_folder() {
  const char *folder = std::getenv("XDG_CONFIG_HOME");
  if (folder != nullptr && folder[0] != '\0') return std::string(folder) + "/gpulse";
  const char *home = std::getenv("HOME");
  return home != nullptr && home[0] != '\0' ? std::string(home) + "/.config/gpulse" : std::string();
}

term::Style style_of(const Options &options, int fd) {
  auto style = term::detect_style(fd);
  if (options.colour) style.colour = true;
  if (options.no_colour) style.colour = false;
  if (options.ascii) style.unicode = false;
  if (options.width > 0) style.width = options.width;
  return style;
}

term::Style whole_lines(const Options &options) {
  constexpr int kNoEnd = 1 << 20;
  auto style = style_of(options, STDOUT_FILENO);
  style.width = kNoEnd;
  return style;
}

bool is_same_file(const std::string &one, const std::string &other) {
  std::error_code none;
  return !one.empty() && std::filesystem::equivalent(one, other, none);
}

LiveScreen::LiveScreen(bool active, End end) : active_(active), end_(end) {
  if (active_) (void)write_out("\x1b[?1049h\x1b[?25l");
}

LiveScreen::~LiveScreen() {
  if (active_) (void)write_out("\x1b[?25h\x1b[?1049l" + last_);
}

[[gnu::hot]] Result<void> LiveScreen::draw(std::string_view frame) {
  if (!active_) return write_out(frame);
  if (end_ == End::last_frame) last_ = frame;
  std::string text = "\x1b[H";
  while (!frame.empty()) {
    const auto end = frame.find('\n');
    text += frame.substr(0, end);
    text += "\x1b[K";
    if (end == std::string_view::npos) break;
    frame.remove_prefix(end + 1);
    // No newline after the last line: it would scroll a full screen.
    if (!frame.empty()) text += "\r\n";
  }
  return write_out(text + "\x1b[J");
}

struct QuitKey::Watch {
  termios found{};
  UniqueFd end;
  std::thread thread;
};

QuitKey::QuitKey(bool active) {
  // In the background the terminal is somebody else's.
  if (!active || ::isatty(STDIN_FILENO) != 1 || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return;
  auto watch = std::make_unique<Watch>();
  watch->end = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!watch->end || ::tcgetattr(STDIN_FILENO, &watch->found) != 0) return;
  auto modes = watch->found;
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &modes) != 0) return;
  watch->thread = std::thread([end = watch->end.get()] {
    std::array<pollfd, 2> waits{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{end, POLLIN, 0}};
    char key = 0;
    while (::poll(waits.data(), waits.size(), -1) >= 0 || errno == EINTR) {
      if (waits[1].revents != 0) return;
      if (waits[0].revents == 0) continue;
      if (::read(STDIN_FILENO, &key, 1) != 1) return;
      if (key == 'q' || key == 'Q') ::kill(::getpid(), SIGINT);
    }
  });
  watch_ = std::move(watch);
}

QuitKey::~QuitKey() {
  if (!watch_) return;
  ::eventfd_write(watch_->end.get(), 1);
  watch_->thread.join();
  ::tcsetattr(STDIN_FILENO, TCSANOW, &watch_->found);
}

struct SlowNotice::Watch {
  std::mutex mutex;
  std::condition_variable_any ended;
  std::jthread thread;
};

SlowNotice::SlowNotice(std::string what) : watch_(std::make_unique<Watch>()) {
  watch_->thread = std::jthread([watch = watch_.get(), what = std::move(what)](const std::stop_token &stop) {
    std::unique_lock lock(watch->mutex);
    if (!watch->ended.wait_for(lock, stop, 2s, [&] { return stop.stop_requested(); })) {
      if (!stop.stop_requested()) complain(what);
    }
  });
}

SlowNotice::~SlowNotice() = default;

}  // namespace gpulse::cli
