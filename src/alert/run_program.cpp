// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "alert/receiver.hpp"
#include "base/file.hpp"
#include "base/unique_fd.hpp"

extern "C" char **environ;  // NOLINT(readability-redundant-declaration): not in every unistd.h

namespace gpulse::alert {

namespace {

using namespace std::chrono_literals;
using End = Delivery::End;

constexpr auto kLook = 20ms;
constexpr auto kGrace = 1s;  // between being asked to end and being ended
constexpr std::size_t kMostWords = 200;
constexpr int kCannotRun = 127;

// What the service manager said to this process alone.
bool is_ours_alone(std::string_view variable) {
  static constexpr std::array<std::string_view, 6> kNames{"NOTIFY_SOCKET=",         "WATCHDOG_", "LISTEN_",
                                                          "CREDENTIALS_DIRECTORY=", "MAINPID=",  "GPULSE_ALERT_"};
  return std::ranges::any_of(kNames, [&](auto name) { return variable.starts_with(name); });
}

std::vector<std::string> variables_of(const std::vector<std::pair<std::string, std::string>> &more) {
  std::vector<std::string> all;
  for (char **each = environ; each != nullptr && *each != nullptr; ++each) {
    if (!is_ours_alone(*each)) all.emplace_back(*each);
  }
  for (const auto &[name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> all;
  for (const auto &text : texts) all.push_back(const_cast<char *>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

struct Start {
  char *const *arguments;
  char *const *variables;
  int in, out, complaints, failures;
};

// All but the standard streams; the one for failures closes itself.
void close_others(int kept) {
#ifdef SYS_close_range
  const auto close_range = [](unsigned first, unsigned last) { return ::syscall(SYS_close_range, first, last, 0); };
  const auto place = static_cast<unsigned>(kept);
  if (close_range(place + 1, ~0U) == 0 && (kept == 3 || close_range(3, place - 1) == 0)) return;
#endif
  constexpr int kMostFiles = 65536;
  for (int fd = 3; fd < kMostFiles; ++fd) {
    if (fd != kept) ::close(fd);
  }
}

// Between fork() and exec() of a program with threads: system calls only.
[[noreturn]] void become(const Start &start) {
  ::setsid();  // so that all that it starts can be ended with it
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &usual, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // None of them is one of the first three: those are open as long as this program runs.
  if (::dup2(start.in, 0) == 0 && ::dup2(start.out, 1) == 1 && ::dup2(start.complaints, 2) == 2) {
    close_others(start.failures);
    ::execve(start.arguments[0], start.arguments, start.variables);
  }
  const int why = errno;
  [[maybe_unused]] const auto told = ::write(start.failures, &why, sizeof why);
  ::_exit(kCannotRun);
}

// The end of what it says on its standard error, without waiting.
void listen(int fd, std::string &said) {
  std::array<char, 4096> piece{};
  for (ssize_t got = 1; got > 0;) {
    got = ::read(fd, piece.data(), piece.size());
    if (got > 0) said.append(piece.data(), static_cast<std::size_t>(got));
    if (said.size() > piece.size()) said.erase(0, said.size() - piece.size());
  }
}

std::string last_line(std::string_view said) {
  const auto text = trim(said);
  const auto line = text.substr(text.rfind('\n') + 1);
  return line.empty() ? std::string() : ": " + printable(line.substr(0, kMostWords));
}

Delivery judge_end(const siginfo_t &info, const std::string &said) {
  if (info.si_code == CLD_EXITED && info.si_status == 0) return {};
  const auto what = info.si_code == CLD_EXITED ? fmt::format("it ended with {}", info.si_status)
                                               : fmt::format("signal {} ended it", info.si_status);
  return {.end = End::refused, .words = what + last_line(said)};
}

// Until it is over, one way or another.
Delivery wait_for(pid_t child, int complaints, std::chrono::nanoseconds time, const std::stop_token &stop) {
  const auto limit = monotonic_now() + time;
  std::string said;
  siginfo_t info{};
  bool is_asked = false, has_ended = false;
  for (;;) {
    info.si_pid = 0;
    const int got = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    has_ended = got != 0 || info.si_pid == child;
    listen(complaints, said);
    const auto now = monotonic_now();
    const bool is_over = stop.stop_requested() || now >= limit + kGrace;
    if (has_ended || is_over) break;
    if (now >= limit && !std::exchange(is_asked, true)) ::kill(-child, SIGTERM);
    static_cast<void>(sleep_until(now + kLook, stop));
  }
  // Its number is nobody else's as long as it has not been waited for.
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) != 0 && errno == EINTR) {
  }
  if (!has_ended && stop.stop_requested()) return {.end = End::later, .words = "the agent ends"};
  if (!has_ended || is_asked)
    return {.end = End::refused, .words = fmt::format("it took longer than {}", insight::duration_text(time))};
  return judge_end(info, said);
}

}  // namespace

Delivery run_program(const std::vector<std::string> &command, const std::string &input,
                     const std::vector<std::pair<std::string, std::string>> &variables, std::chrono::nanoseconds time,
                     const std::stop_token &stop) {
  const auto fail = [](int why) { return Delivery{.end = End::later, .words = std::strerror(why)}; };
  // Not a pipe: whoever does not read it keeps nobody waiting.
  const UniqueFd in(::memfd_create("gpulse-alert", MFD_CLOEXEC));
  if (!in || !write_all(in.get(), input) || ::lseek(in.get(), 0, SEEK_SET) != 0) return fail(errno);
  const UniqueFd out(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  std::array<int, 2> complaints{}, failures{};
  if (!out || ::pipe2(complaints.data(), O_CLOEXEC) != 0) return fail(errno);
  const UniqueFd hear(complaints[0]);
  UniqueFd complain(complaints[1]);
  if (::pipe2(failures.data(), O_CLOEXEC) != 0) return fail(errno);
  const UniqueFd failed(failures[0]);
  UniqueFd tell(failures[1]);
  ::fcntl(hear.get(), F_SETFL, O_NONBLOCK);
  const auto environment = variables_of(variables);
  const auto arguments = pointers(command), values = pointers(environment);
  const auto child = ::fork();
  if (child == 0) become({arguments.data(), values.data(), in.get(), out.get(), complain.get(), tell.get()});
  if (child < 0) return fail(errno);
  complain.reset();
  tell.reset();
  int why = 0;
  // Closed by execve() without a word.
  if (::read(failed.get(), &why, sizeof why) == sizeof why) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return {.end = End::refused, .words = fmt::format("cannot run {}: {}", command.front(), std::strerror(why))};
  }
  return wait_for(child, hear.get(), time, stop);
}

}  // namespace gpulse::alert
