// SPDX-License-Identifier: Apache-2.0
#include "term/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "term/terminal_signals.hpp"

namespace gpulse::term {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?7l\033[?2004h";
constexpr std::string_view kMouseOn = "\033[?1000h\033[?1002h\033[?1003h\033[?1006h";
constexpr std::string_view kMouseOff = "\033[?1006l\033[?1003l\033[?1002l\033[?1000l";
// After this long, an Escape is not the start of a sequence.
constexpr milliseconds kSettle{30};
constexpr int kWriteSliceMs = 200;
// A terminal can claim to be 65535 × 65535.
constexpr Size kLargest{2000, 1000}, kUnknown{80, 24};

termios raw_modes(termios modes) {
  ::cfmakeraw(&modes);  // clears ISIG, too: Ctrl-C and Ctrl-Z come as keys
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  return modes;
}

// Opens the same terminal again, because the shell shares the descriptor and would become non-blocking, too.
int open_output() { return ::open("/proc/self/fd/1", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC); }

}  // namespace

struct Terminal::State {
  UniqueFd own_output, wake;
  UniqueFd errors, errors_aside;
  termios raw{};
  bool mouse = true;
  InputParser parser;
  Clock::time_point last_byte;

  bool enter();
  void set_errors_aside();
  void show_errors();
  bool take_signals(Events &events);
  int timeout(Clock::time_point deadline) const;
  void read_input(Events &events);
  void settle(Events &events);
};

bool Terminal::State::enter() {
  auto &signals = terminal_signals();
  // In the background this stops us, and SIGCONT interrupts it.
  while (::tcsetattr(signals.input, TCSANOW, &raw) != 0) {
    if (errno != EINTR || signals.stop) return false;
  }
  signals.entered = true;
  signals.continued = false;
  if (signals.errors_aside >= 0) ::dup2(signals.errors_aside, STDERR_FILENO);
  return true;
}

void Terminal::State::set_errors_aside() {
  if (::isatty(STDERR_FILENO) != 1) return;
  errors = UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  errors_aside = UniqueFd(::memfd_create("errors", MFD_CLOEXEC));
  if (!errors || !errors_aside) return;
  // So that it can be emptied while somebody writes to it.
  ::fcntl(errors_aside.get(), F_SETFL, O_APPEND);
  terminal_signals().errors = errors.get();
  terminal_signals().errors_aside = errors_aside.get();
}

// What came last is most likely why the program ends.
void Terminal::State::show_errors() {
  constexpr off_t kMost = 4096;
  std::array<char, kMost> bytes;
  if (!errors_aside) return;
  const auto size = ::lseek(errors_aside.get(), 0, SEEK_END);
  const auto count = ::pread(errors_aside.get(), bytes.data(), bytes.size(), std::max<off_t>(0, size - kMost));
  if (count > 0) (void)!::write(errors.get(), bytes.data(), static_cast<std::size_t>(count));
}

Result<std::unique_ptr<Terminal>> Terminal::open(const Options &options) {
  auto &signals = terminal_signals();
  if (signals.wake >= 0) return failure("the terminal is in use already");
  if (::isatty(STDIN_FILENO) != 1) return failure("standard input is no terminal", "run it in one, without < or |");
  if (::isatty(STDOUT_FILENO) != 1) return failure("standard output is no terminal", "run it in one, without > or |");
  auto state = std::make_unique<State>();
  state->mouse = options.mouse;
  state->wake = UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!state->wake) return failure(std::string("cannot make an event descriptor: ") + std::strerror(errno));
  if (::tcgetattr(STDIN_FILENO, &signals.found) != 0) {
    return failure(std::string("cannot read the terminal's modes: ") + std::strerror(errno));
  }
  state->raw = raw_modes(signals.found);
  state->own_output = UniqueFd(open_output());
  signals.input = STDIN_FILENO;
  signals.output = state->own_output ? state->own_output.get() : STDOUT_FILENO;
  signals.wake = state->wake.get();
  signals.stop = signals.resized = signals.suspend = signals.continued = signals.woken = false;
  state->set_errors_aside();
  install_handlers();
  auto terminal = std::unique_ptr<Terminal>(new Terminal(std::move(state)));
  if (!terminal->state_->enter()) {
    return failure(std::string("cannot set the terminal's modes: ") + std::strerror(errno));
  }
  if (auto shown = terminal->show(); !shown) return std::unexpected(shown.error());
  return terminal;
}

bool Terminal::was_stopped() { return terminal_signals().stop; }

Terminal::Terminal(std::unique_ptr<State> state) : state_(std::move(state)) {}

Terminal::~Terminal() {
  leave_terminal();
  remove_handlers();
  state_->show_errors();
  terminal_signals().wake = terminal_signals().errors = terminal_signals().errors_aside = -1;
}

Result<void> Terminal::show() {
  if (auto entered = write(kEnter); !entered || !state_->mouse) return entered;
  return write(kMouseOn);
}

Size Terminal::size() const {
  winsize window{};
  if (::ioctl(terminal_signals().output, TIOCGWINSZ, &window) != 0) return kUnknown;
  const auto sensible = [](int told, int otherwise, int most) { return told > 0 ? std::min(told, most) : otherwise; };
  return {sensible(window.ws_col, kUnknown.columns, kLargest.columns),
          sensible(window.ws_row, kUnknown.rows, kLargest.rows)};
}

// Returns whether there is something to report.
bool Terminal::State::take_signals(Events &events) {
  auto &signals = terminal_signals();
  events.stop = events.stop || signals.stop.load();  // never reset, so that nobody can miss it
  events.resized = signals.resized.exchange(false) || events.resized;
  events.woken = signals.woken.exchange(false) || events.woken;
  return events.stop || events.resized || events.woken;
}

int Terminal::State::timeout(Clock::time_point deadline) const {
  auto end = deadline;
  if (parser.waiting()) end = std::min(end, last_byte + kSettle);
  const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void Terminal::State::read_input(Events &events) {
  std::array<char, 4096> bytes;
  const auto count = ::read(terminal_signals().input, bytes.data(), bytes.size());
  if (count > 0) {
    last_byte = Clock::now();
    parser.feed({bytes.data(), static_cast<std::size_t>(count)}, events.inputs);
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    terminal_signals().stop = true;
  }
}

void Terminal::State::settle(Events &events) {
  if (parser.waiting() && Clock::now() - last_byte >= kSettle) parser.settle(events.inputs);
}

Terminal::Events Terminal::wait(milliseconds at_most) {
  auto &signals = terminal_signals();
  // A driver may complain with every call, for days.
  constexpr off_t kMostErrors = 1 << 20;
  struct stat written{};
  if (state_->errors_aside && ::fstat(state_->errors_aside.get(), &written) == 0 && written.st_size > kMostErrors) {
    (void)!::ftruncate(state_->errors_aside.get(), 0);
  }
  const auto deadline = Clock::now() + std::clamp(at_most, milliseconds(0), milliseconds(std::chrono::hours(24)));
  Events events;
  while (true) {
    if (state_->take_signals(events) || !events.inputs.empty()) return events;
    if (signals.suspend.exchange(false)) stop_and_return(false);
    if (signals.continued.exchange(false)) come_back();
    if (signals.resized) continue;
    std::array<pollfd, 2> ready{{{signals.input, POLLIN, 0}, {signals.wake, POLLIN, 0}}};
    const int count = ::poll(ready.data(), ready.size(), state_->timeout(deadline));
    if (count > 0 && ready[1].revents != 0) {
      std::uint64_t times = 0;
      (void)!::read(signals.wake, &times, sizeof times);
    }
    if (count > 0 && ready[0].revents != 0) state_->read_input(events);
    state_->settle(events);
    if (count <= 0 && Clock::now() >= deadline) {
      state_->take_signals(events);
      return events;
    }
  }
}

void Terminal::wake() {
  terminal_signals().woken = true;
  wake_terminal();
}

Result<void> Terminal::write(std::string_view bytes) {
  const auto &signals = terminal_signals();
  while (!bytes.empty()) {
    const auto written = ::write(signals.output, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    const int error = errno;
    if (written < 0 && error != EINTR && error != EAGAIN) {
      return failure(std::string("cannot write to the terminal: ") + std::strerror(error));
    }
    if (signals.stop) return failure("the terminal takes no more");
    pollfd room{signals.output, POLLOUT, 0};
    if (error == EAGAIN) ::poll(&room, 1, kWriteSliceMs);
  }
  return {};
}

// After a stop the shell may have changed the modes and written over the screen.
void Terminal::come_back() {
  if (terminal_signals().stop) return;  // asked to stop while suspended: the terminal belongs to the shell
  if (!state_->enter() || !show()) terminal_signals().stop = true;
  terminal_signals().resized = true;
}

void Terminal::stop_and_return(bool whole_group) {
  leave_terminal();
  stop_here(whole_group);
  come_back();
}

void Terminal::suspend() { stop_and_return(true); }

void Terminal::set_mouse(bool on) {
  if (on == state_->mouse) return;
  state_->mouse = on;
  (void)write(on ? kMouseOn : kMouseOff);
}

}  // namespace gpulse::term
