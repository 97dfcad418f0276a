// SPDX-License-Identifier: Apache-2.0
#include "cli/child_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::cli {

namespace {

constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool is_program(const std::string &path) { return ::access(path.c_str(), X_OK) == 0; }

// The terminal sends its signals to the whole process group: the command has got them already.
bool is_from_terminal(const siginfo_t &info) { return info.si_code == SI_KERNEL; }

// Its end, and the process stays to be asked about: nobody else gets its number.
bool wait_for_end(pid_t pid, siginfo_t &info) {
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

ChildCommand::ChildCommand() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : kForwarded) ::sigaddset(&signals, signal);
  // Threads started from here on inherit the mask, so that only the one below gets them.
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  std::thread([stop = stop_, command = command_, signals]() mutable {
    siginfo_t info{};
    for (;;) {
      if (::sigwaitinfo(&signals, &info) < 0) continue;
      const std::lock_guard lock(command->mutex);
      if (command->pid == 0) {
        stop.request_stop();
      } else if (!is_from_terminal(info)) {
        ::kill(command->pid, info.si_signo);
      }
    }
  }).detach();
}

Result<void> ChildCommand::check(std::span<const std::string> words) {
  const auto &name = words.front();
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return {};
    return failure(fmt::format("cannot run {}", name), std::strerror(errno));
  }
  const char *path = std::getenv("PATH");
  for (const auto folder : split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    if (is_program(fmt::format("{}/{}", folder.empty() ? "." : folder, name))) return {};
  }
  return failure(fmt::format("cannot run {}", name), "there is no such program");
}

// Between fork() and exec() of a program with threads: system calls only.
void ChildCommand::become(char *const *arguments, int failures) const {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  ::execvp(arguments[0], arguments);
  const int why = errno;
  [[maybe_unused]] const auto told = ::write(failures, &why, sizeof why);
  ::_exit(kCannotRun);
}

Result<void> ChildCommand::start(std::span<const std::string> words, std::stop_source on_end) {
  std::vector<char *> arguments;
  for (const auto &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure("cannot run a command", std::strerror(errno));
  const UniqueFd failures(ends[0]);
  UniqueFd to_us(ends[1]);
  pid_t pid = -1;
  {
    const std::lock_guard lock(command_->mutex);
    if (stop_.stop_requested()) return failure("the command was not run");
    pid = ::fork();
    if (pid == 0) become(arguments.data(), to_us.get());
    if (pid < 0) return failure(fmt::format("cannot run {}", words.front()), std::strerror(errno));
    command_->pid = pid;
  }
  to_us.reset();
  int why = 0;
  // Closed by exec() without a word.
  if (::read(failures.get(), &why, sizeof why) == sizeof why) {
    return failure(fmt::format("cannot run {}", words.front()), std::strerror(why));
  }
  std::thread([pid, on_end = std::move(on_end)]() mutable {
    siginfo_t info{};
    wait_for_end(pid, info);
    on_end.request_stop();
  }).detach();
  return {};
}

CommandEnd ChildCommand::wait() {
  constexpr int kBySignal = 128;
  siginfo_t info{};
  if (!wait_for_end(command_->pid, info)) return {.code = kCannotRun};
  if (info.si_code == CLD_EXITED) return {.code = info.si_status};
  return {.code = kBySignal + info.si_status, .signal = info.si_status};
}

}  // namespace gpulse::cli
