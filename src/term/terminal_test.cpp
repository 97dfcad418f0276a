// SPDX-License-Identifier: Apache-2.0
#include "term/terminal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include "base/unique_fd.hpp"

namespace gpulse::term {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kOtherScreen = "\033[?1049h", kOwnScreen = "\033[?1049l";
constexpr int kLongestWaitMs = 20'000;

// What the shell saw of its job, and who that is.
struct Report {
  pid_t job = 0;
  int status = 0;
};

// Runs the job in a process group of its own in the foreground, as a shell does, and tells what becomes of it. What to
// do when it has stopped comes from `commands`: f and b as the shell's fg and bg, w to wait.
[[noreturn]] void be_shell(const std::function<int()> &job, int reports, int commands) noexcept {
  ::signal(SIGTTOU, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::tcsetpgrp(STDIN_FILENO, ::getpid());
    // As in a program without sanitizers.
    for (const int number : {SIGTTOU, SIGHUP, SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) ::signal(number, SIG_DFL);
    ::_exit(job());
  }
  ::setpgid(child, child);
  ::tcsetpgrp(STDIN_FILENO, child);
  Report report{child, 0};
  (void)!::write(reports, &report, sizeof report);
  while (::waitpid(child, &report.status, WUNTRACED) == child) {
    ::tcsetpgrp(STDIN_FILENO, ::getpid());
    (void)!::write(reports, &report, sizeof report);
    char command = 0;
    if (!WIFSTOPPED(report.status) || ::read(commands, &command, 1) != 1) break;
    if (command == 'f') ::tcsetpgrp(STDIN_FILENO, child);
    if (command != 'w') ::kill(-child, SIGCONT);
  }
  ::_exit(0);
}

// A job in a terminal of 80 × 24 of which the test is the user.
class Job {
 public:
  explicit Job(const std::function<int()> &body) {
    std::array<int, 2> reports{}, commands{};
    if (::pipe2(reports.data(), O_CLOEXEC) != 0 || ::pipe2(commands.data(), O_CLOEXEC) != 0) std::abort();
    winsize window{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    int keyboard = -1;
    shell_ = ::forkpty(&keyboard, nullptr, nullptr, &window);
    if (shell_ == 0) be_shell(body, reports[1], commands[0]);
    keyboard_ = UniqueFd(keyboard);
    ::close(reports[1]);
    ::close(commands[0]);
    reports_ = UniqueFd(reports[0]);
    commands_ = UniqueFd(commands[1]);
    job_ = next_report().job;
  }
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;
  ~Job() {
    ::kill(job_, SIGKILL);
    ::kill(shell_, SIGKILL);
    ::waitpid(shell_, nullptr, 0);
  }

  void type(std::string_view bytes) const { (void)!::write(keyboard_.get(), bytes.data(), bytes.size()); }
  void send(int number) const { ::kill(job_, number); }
  void tell_shell(char command) const { (void)!::write(commands_.get(), &command, 1); }
  void hang_up() { keyboard_.reset(); }
  void resize(unsigned short columns, unsigned short rows) const {
    winsize window{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(keyboard_.get(), TIOCSWINSZ, &window);
  }

  // What comes on the screen until `end` has come, or nothing more does.
  std::string screen_until(std::string_view end) {
    while (unread_.find(end) == std::string::npos) {
      pollfd ready{keyboard_.get(), POLLIN, 0};
      std::array<char, 4096> bytes;
      if (::poll(&ready, 1, kLongestWaitMs) <= 0) break;
      const auto count = ::read(keyboard_.get(), bytes.data(), bytes.size());
      if (count <= 0) break;
      unread_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    const auto at = unread_.find(end);
    const auto length = at == std::string::npos ? unread_.size() : at + end.size();
    const auto seen = unread_.substr(0, length);
    unread_.erase(0, length);
    return seen;
  }

  // Its status when it has stopped or ended, as waitpid() gives it.
  int status() const { return next_report().status; }

  // As the shell does while it reads a line itself.
  void set_modes_of_shell() const {
    termios modes{};
    ::tcgetattr(keyboard_.get(), &modes);
    modes.c_lflag = ISIG;
    ::tcsetattr(keyboard_.get(), TCSANOW, &modes);
  }
  bool has_modes_of_shell() const {
    termios modes{};
    ::tcgetattr(keyboard_.get(), &modes);
    return modes.c_lflag == ISIG;
  }

  // Whether lines are edited and echoed, as a shell expects.
  bool cooked() const {
    termios modes{};
    ::tcgetattr(keyboard_.get(), &modes);
    return (modes.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG) && (modes.c_oflag & OPOST) != 0;
  }

 private:
  Report next_report() const {
    pollfd ready{reports_.get(), POLLIN, 0};
    Report report{0, -1};
    if (::poll(&ready, 1, kLongestWaitMs) > 0) (void)!::read(reports_.get(), &report, sizeof report);
    return report;
  }

  std::string unread_;
  pid_t shell_ = -1, job_ = -1;
  UniqueFd keyboard_, reports_, commands_;
};

bool exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
bool killed(int status, int number) { return WIFSIGNALED(status) && WTERMSIG(status) == number; }

std::unique_ptr<Terminal> opened() {
  auto terminal = Terminal::open({});
  if (!terminal) ::_exit(99);
  return std::move(*terminal);
}

void say(Terminal &terminal, std::string_view text) { (void)terminal.write("<" + std::string(text) + ">"); }

std::string described(const Input &input) {
  if (const auto *paste = std::get_if<Paste>(&input)) return "paste " + paste->text;
  if (const auto *mouse = std::get_if<MouseEvent>(&input)) {
    return "mouse " + std::to_string(mouse->x) + " " + std::to_string(mouse->y);
  }
  const auto &press = std::get<KeyPress>(input);
  const std::string held = press.ctrl ? "ctrl " : press.alt ? "alt " : "";
  if (press.key == Key::character) return held + static_cast<char>(press.character);
  return held + "key " + std::to_string(static_cast<int>(press.key));
}

// Says all that happens; q ends it with 0, a stop with 3, Ctrl-Z suspends.
int say_what_happens() {
  const auto terminal = opened();
  say(*terminal, "ready");
  while (true) {
    const auto events = terminal->wait(milliseconds(60'000));
    for (const auto &input : events.inputs) {
      const auto what = described(input);
      if (what == "q") return 0;
      if (what == "ctrl z") terminal->suspend();
      say(*terminal, what);
    }
    if (events.stop) return 3;
    if (events.resized) {
      const auto size = terminal->size();
      say(*terminal, "size " + std::to_string(size.columns) + " " + std::to_string(size.rows));
    }
  }
}

TEST(Terminal, IsPutBackAtTheEnd) {
  Job job(say_what_happens);
  EXPECT_THAT(job.screen_until("<ready>"), AllOf(HasSubstr(kOtherScreen), HasSubstr("\033[?25l"), HasSubstr("\033[?7l"),
                                                 HasSubstr("\033[?1006h"), HasSubstr("\033[?2004h")));
  EXPECT_FALSE(job.cooked());
  job.type("q");
  EXPECT_THAT(job.screen_until(kOwnScreen),
              AllOf(HasSubstr("\033[?25h"), HasSubstr("\033[?7h"), HasSubstr("\033[?1006l"), HasSubstr("\033[?2004l")));
  EXPECT_TRUE(exited(job.status(), 0));
  EXPECT_TRUE(job.cooked());
}

// A driver's library that complains on standard error.
int complain() {
  {
    const auto terminal = opened();
    say(*terminal, "ready");
    std::fputs("driver: something odd\n", stderr);
    say(*terminal, "drawn");
    terminal->wait(milliseconds(60'000));
  }
  std::fputs("after it\n", stderr);
  return 0;
}

TEST(Terminal, KeepsWhatComesOnStandardErrorOffTheScreenUntilTheEnd) {
  Job job(complain);
  EXPECT_THAT(job.screen_until("<drawn>"), Not(HasSubstr("something odd")));
  job.type("q");
  EXPECT_THAT(job.screen_until(kOwnScreen), Not(HasSubstr("something odd")));
  EXPECT_THAT(job.screen_until("after it"), HasSubstr("driver: something odd"));
  EXPECT_TRUE(exited(job.status(), 0));
}

TEST(Terminal, TellsKeysMouseAndPastedText) {
  Job job(say_what_happens);
  job.screen_until("<ready>");
  job.type("a\003\033[<0;3;4M\033[200~b\033[201~");
  EXPECT_THAT(job.screen_until("<paste b>"), HasSubstr("<a><ctrl c><mouse 2 3><paste b>"));
  job.type("\033");
  const auto escape = "<key " + std::to_string(static_cast<int>(Key::escape)) + ">";
  EXPECT_THAT(job.screen_until(escape), HasSubstr(escape));
}

TEST(Terminal, TellsThatItWasResized) {
  Job job(say_what_happens);
  job.screen_until("<ready>");
  job.resize(132, 43);
  EXPECT_THAT(job.screen_until("<size 132 43>"), HasSubstr("<size 132 43>"));
  job.resize(65535, 65535);
  EXPECT_THAT(job.screen_until(">"), HasSubstr("<size 2000 1000>"));
  job.resize(0, 0);
  EXPECT_THAT(job.screen_until(">"), HasSubstr("<size 80 24>"));
}

TEST(Terminal, EndsInOrderOnASignalFromOutside) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Job job(say_what_happens);
    job.screen_until("<ready>");
    job.send(number);
    EXPECT_THAT(job.screen_until(kOwnScreen), HasSubstr(kOwnScreen)) << number;
    EXPECT_TRUE(exited(job.status(), 3)) << number;
    EXPECT_TRUE(job.cooked()) << number;
  }
}

TEST(Terminal, LeavesASignalIgnoredThatWas) {
  Job job([] {
    ::signal(SIGHUP, SIG_IGN);
    return say_what_happens();
  });
  job.screen_until("<ready>");
  job.send(SIGHUP);
  job.type("a");
  EXPECT_THAT(job.screen_until("<a>"), HasSubstr("<a>"));
  job.type("q");
  EXPECT_TRUE(exited(job.status(), 0));
}

TEST(Terminal, EndsWhenItIsGone) {
  Job job([] {
    ::signal(SIGHUP, SIG_IGN);
    return say_what_happens();
  });
  job.screen_until("<ready>");
  job.hang_up();
  EXPECT_TRUE(exited(job.status(), 3));
}

TEST(Terminal, IsGivenBackWhileStopped) {
  const std::array<std::function<void(const Job &)>, 2> ways{[](const Job &job) { job.type("\032"); },
                                                             [](const Job &job) { job.send(SIGTSTP); }};
  for (const auto &stop : ways) {
    Job job(say_what_happens);
    job.screen_until("<ready>");
    for (int round = 0; round < 2; ++round) {
      stop(job);
      EXPECT_THAT(job.screen_until(kOwnScreen), HasSubstr(kOwnScreen));
      EXPECT_TRUE(WIFSTOPPED(job.status()));
      EXPECT_TRUE(job.cooked());
      job.resize(100, 30);
      job.tell_shell('f');
      EXPECT_THAT(job.screen_until("<size 100 30>"), AllOf(HasSubstr(kOtherScreen), HasSubstr("<size 100 30>")));
      EXPECT_FALSE(job.cooked());
    }
    job.type("q");
    EXPECT_TRUE(exited(job.status(), 0));
    EXPECT_TRUE(job.cooked());
  }
}

TEST(Terminal, EndsWhileStoppedWithoutTakingTheTerminalFromTheShell) {
  Job job(say_what_happens);
  job.screen_until("<ready>");
  job.type("\032");
  EXPECT_TRUE(WIFSTOPPED(job.status()));
  job.screen_until(kOwnScreen);
  job.send(SIGTERM);
  job.send(SIGCONT);  // as `kill %1` does; the shell is still in the foreground
  job.tell_shell('w');
  EXPECT_TRUE(exited(job.status(), 3));
  EXPECT_TRUE(job.cooked());
}

TEST(Terminal, StaysStoppedInTheBackground) {
  Job job(say_what_happens);
  job.screen_until("<ready>");
  job.type("\032");
  EXPECT_TRUE(WIFSTOPPED(job.status()));
  job.tell_shell('b');
  const auto status = job.status();
  EXPECT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTOU) << status;
  EXPECT_TRUE(job.cooked());
  job.tell_shell('f');
  EXPECT_THAT(job.screen_until("<ctrl z>"), HasSubstr(kOtherScreen));
  EXPECT_FALSE(job.cooked());
  job.type("q");
  EXPECT_TRUE(exited(job.status(), 0));
}

TEST(Terminal, IsTakenAgainAfterAStopThatCouldNotBeSeen) {
  Job job(say_what_happens);
  job.screen_until("<ready>");
  job.send(SIGSTOP);
  EXPECT_TRUE(WIFSTOPPED(job.status()));
  job.tell_shell('f');
  EXPECT_THAT(job.screen_until("<size 80 24>"), AllOf(HasSubstr(kOtherScreen), HasSubstr("<size 80 24>")));
}

TEST(Terminal, LeavesTheModesToTheShellInTheBackground) {
  Job job(say_what_happens);
  job.screen_until("<ready>");
  job.send(SIGSTOP);
  EXPECT_TRUE(WIFSTOPPED(job.status()));
  job.set_modes_of_shell();
  job.send(SIGTERM);
  job.send(SIGCONT);
  job.tell_shell('w');
  EXPECT_TRUE(exited(job.status(), 3));
  EXPECT_TRUE(job.has_modes_of_shell());
  EXPECT_THAT(job.screen_until(kOwnScreen), HasSubstr(kOwnScreen));
}

// The job's screen and status when it ends so.
void expect_crash(const std::function<void()> &crash, int number, std::string_view last_words = "") {
  Job job([&crash] {
    const auto terminal = opened();
    say(*terminal, "ready");
    if (terminal->wait(milliseconds(60'000)).inputs.empty()) return 1;
    crash();
    return 2;
  });
  job.screen_until("<ready>");
  EXPECT_FALSE(job.cooked());
  job.type("x");
  const auto status = job.status();
  EXPECT_TRUE(killed(status, number)) << status;
  EXPECT_TRUE(job.cooked());
  EXPECT_THAT(job.screen_until(last_words.empty() ? kOwnScreen : last_words), HasSubstr(kOwnScreen));
}

TEST(Terminal, IsPutBackOnACrash) {
  // Through a pointer that the compiler knows nothing of.
  expect_crash([] { *reinterpret_cast<volatile int *>(std::strtoul("8", nullptr, 10)) = 1; }, SIGSEGV);
  expect_crash([] { std::abort(); }, SIGABRT);
  expect_crash([] { ::raise(SIGFPE); }, SIGFPE);
  expect_crash([] { ::kill(::getpid(), SIGSEGV); }, SIGSEGV);
}

// Deeper than any stack; what it adds keeps the compiler from making a loop of it.
int fall(int depth) {
  volatile char weight[1000] = {};
  weight[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : fall(depth + 1) + weight[0];
}

TEST(Terminal, IsPutBackWhenTheStackOverflows) {
  expect_crash([] { ::_exit(fall(1)); }, SIGSEGV);
}

TEST(Terminal, IsPutBackBeforeTheLastWords) {
  Job job([]() -> int {
    const auto terminal = opened();
    std::terminate();
  });
  const auto seen = job.screen_until("terminate called");
  EXPECT_LT(seen.find(kOwnScreen), seen.find("terminate called"));
  EXPECT_TRUE(killed(job.status(), SIGABRT));
  EXPECT_TRUE(job.cooked());
}

TEST(Terminal, LeavesACrashToTheHandlerThatWasThere) {
  Job job([] {
    ::signal(SIGSEGV, [](int) { ::_exit(42); });
    const auto terminal = opened();
    ::raise(SIGSEGV);
    return 0;
  });
  EXPECT_THAT(job.screen_until(kOwnScreen), HasSubstr(kOwnScreen));
  EXPECT_TRUE(exited(job.status(), 42));
  EXPECT_TRUE(job.cooked());
}

TEST(Terminal, IsNoneWhereOneOfTheTwoIsNot) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    Job job([fd] {
      ::dup2(::open("/dev/null", O_RDWR), fd);
      const auto terminal = Terminal::open({});
      if (terminal) return 1;
      const auto what = fd == STDIN_FILENO ? "standard input is no terminal" : "standard output is no terminal";
      return terminal.error().what == what ? 0 : 2;
    });
    EXPECT_TRUE(exited(job.status(), 0));
    EXPECT_TRUE(job.cooked());
  }
}

TEST(Terminal, IsOnlyOne) {
  Job job([] {
    const auto first = opened();
    if (Terminal::open({})) return 1;
    return 0;
  });
  EXPECT_TRUE(exited(job.status(), 0));
  EXPECT_TRUE(job.cooked());
}

TEST(Terminal, CanBeHadAgain) {
  Job job([] {
    for (int i = 0; i < 3; ++i) say(*opened(), "again");
    return say_what_happens();
  });
  job.screen_until("<ready>");
  job.type("q");
  EXPECT_TRUE(exited(job.status(), 0));
  EXPECT_TRUE(job.cooked());
}

TEST(Terminal, WakesFromAWait) {
  Job job([] {
    const auto terminal = opened();
    terminal->wake();
    if (!terminal->wait(milliseconds(60'000)).woken) return 1;
    const auto after = terminal->wait(milliseconds(1));
    return after.woken || after.resized || after.stop || !after.inputs.empty() ? 2 : 0;
  });
  EXPECT_TRUE(exited(job.status(), 0));
}

TEST(Terminal, SwitchesTheMouseOffAndOn) {
  Job job([] {
    const auto terminal = Terminal::open({.mouse = false});
    if (!terminal) return 1;
    say(**terminal, "without");
    (*terminal)->set_mouse(true);
    say(**terminal, "with");
    (*terminal)->set_mouse(false);
    say(**terminal, "end");
    return (*terminal)->wait(milliseconds(60'000)).inputs.empty() ? 1 : 0;
  });
  EXPECT_THAT(job.screen_until("<without>"), Not(HasSubstr("\033[?1000h")));
  EXPECT_THAT(job.screen_until("<with>"), HasSubstr("\033[?1006h<with>"));
  job.type("x");
  EXPECT_TRUE(exited(job.status(), 0));
}

TEST(Terminal, GivesUpWritingWhenItShallStop) {
  Job job([] {
    const auto terminal = opened();
    // More than any terminal keeps for a reader who does not read.
    return terminal->write(std::string(10'000'000, 'x')) ? 0 : 5;
  });
  while (job.cooked()) ::usleep(1000);
  ::usleep(100'000);
  job.send(SIGTERM);
  EXPECT_TRUE(exited(job.status(), 5));
  EXPECT_TRUE(job.cooked());
}

}  // namespace
}  // namespace gpulse::term
