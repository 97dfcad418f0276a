// SPDX-License-Identifier: Apache-2.0
#include "base/process_handle.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>

#include "base/process_stat.hpp"
#include "base/sysroot.hpp"
#include "base/text.hpp"
#include "base/user.hpp"

namespace gpulse {

namespace {

constexpr std::size_t kMostEnvironment = std::size_t{1} << 20U;
constexpr int kLastSignal = 64;
constexpr int kLowestNice = -20, kHighestNice = 19;

std::unexpected<Error> gone() { return failure("it is gone"); }

// The effective user, as in the list of processes.
std::optional<std::uint32_t> owner_of(std::uint32_t pid) {
  const auto status = Sysroot().read(fmt::format("/proc/{}/status", pid));
  std::string_view text = status ? std::string_view(*status) : std::string_view();
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    if (next_word(line) != "Uid:") continue;
    next_word(line);
    return parse_integer<std::uint32_t>(next_word(line));
  }
  return std::nullopt;
}

std::unexpected<Error> no_permission(std::uint32_t pid) {
  const auto owner = owner_of(pid);
  if (!owner) return failure("no permission", "it belongs to another user");
  if (*owner == ::geteuid()) return failure("no permission", "it is protected from others of its user");
  const auto name = user_name(*owner).value_or("");
  return failure("no permission", "it belongs to " + (name.empty() ? fmt::format("user {}", *owner) : name));
}

std::unexpected<Error> refused(std::uint32_t pid, int error) {
  if (error == ESRCH) return gone();
  if (error == EPERM || error == EACCES) return no_permission(pid);
  return failure("it cannot be reached", std::strerror(error));
}

struct Facts {
  std::uint64_t start_ticks = 0;
  int nice = 0;
};

// Of the process that has the number now; only of one that is not over, and that started then.
Result<Facts> look(std::uint32_t pid, std::optional<std::uint64_t> start_ticks) {
  std::string text;
  if (!Sysroot().read_piece(text, fmt::format("/proc/{}/stat", pid))) {
    // /proc mounted with hidepid does not even show that it is there.
    const bool hidden = ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == EPERM;
    return hidden ? no_permission(pid) : gone();
  }
  const auto stat = parse_process_stat(text);
  if (!stat) return failure("what the kernel tells about it makes no sense");
  if (start_ticks && stat->start_ticks != *start_ticks) return failure("it was replaced by another");
  if (stat->is_over()) return gone();
  return Facts{.start_ticks = stat->start_ticks, .nice = stat->nice};
}

}  // namespace

Result<ProcessHandle> ProcessHandle::open(std::uint32_t pid, std::optional<std::uint64_t> start_ticks) {
  if (pid == 0 || pid > static_cast<std::uint32_t>(std::numeric_limits<pid_t>::max())) return gone();
  UniqueFd file(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  // A container that was made before the call was may forbid it.
  if (!file && errno != ENOSYS && errno != EPERM) return refused(pid, errno);
  // Only now: what is read here is said of the process that is held.
  const auto facts = look(pid, start_ticks);
  if (!facts) return std::unexpected(facts.error());
  return ProcessHandle(std::move(file), pid, facts->start_ticks);
}

bool ProcessHandle::alive() const {
  if (!file_) return look(pid_, start_ticks_).has_value();
  pollfd end{.fd = file_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) == 0;
}

Result<void> ProcessHandle::signal(int number) const {
  if (number < 0 || number > kLastSignal) return failure(fmt::format("there is no signal {}", number));
  if (file_ && !alive()) return gone();
  if (!file_) {
    if (const auto same = look(pid_, start_ticks_); !same) return std::unexpected(same.error());
  }
  const auto sent = file_ ? ::syscall(SYS_pidfd_send_signal, file_.get(), number, nullptr, 0)
                          : ::kill(static_cast<pid_t>(pid_), number);
  if (sent != 0) return refused(pid_, errno);
  return {};
}

Result<void> ProcessHandle::renice(int nice) const {
  if (nice < kLowestNice || nice > kHighestNice) {
    return failure(fmt::format("{} is no niceness", nice), "it goes from -20, served first, to 19");
  }
  // The call is for one thread, whatever its name says.
  const auto threads = Sysroot().list(fmt::format("/proc/{}/task", pid_));
  if (const auto same = look(pid_, start_ticks_); !same) return std::unexpected(same.error());
  for (const auto &thread : threads) {
    const auto id = parse_integer<id_t>(std::string_view(thread));
    if (!id || ::setpriority(PRIO_PROCESS, *id, nice) == 0 || (errno == ESRCH && *id != pid_)) continue;
    if (errno == EACCES) return failure("no permission", "only root may have it served sooner");
    return refused(pid_, errno);
  }
  return {};
}

Result<int> ProcessHandle::nice() const {
  const auto facts = look(pid_, start_ticks_);
  if (!facts) return std::unexpected(facts.error());
  return facts->nice;
}

Result<std::vector<std::string>> ProcessHandle::environment() const {
  const auto text = Sysroot().read(fmt::format("/proc/{}/environ", pid_), kMostEnvironment);
  const int error = errno;
  // If it is still there now, it was what was read.
  if (const auto same = look(pid_, start_ticks_); !same) return std::unexpected(same.error());
  std::vector<std::string> variables;
  // It is there, but has no memory of its own: a thread of the kernel's.
  if (!text && error == ESRCH) return variables;
  if (!text) return refused(pid_, error);
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto variable = next_piece(rest, '\0');
    if (!variable.empty()) variables.emplace_back(variable);
  }
  return variables;
}

}  // namespace gpulse
