// SPDX-License-Identifier: Apache-2.0
// For tests: processes of their own, to be signalled, or to try what would spoil the test's own process.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"

namespace gpulse {

// Waits until it is ended; the destructor ends it at the latest.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ != 0) return;
    for (;;) ::pause();
  }
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }

  pid_t id() const { return pid_; }
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  bool runs() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  // The signal that ended it, 0 for none. It is not there any more after that.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_;
};

// What `work` gives in a process of its own.
template <class Work>
std::string in_child(Work work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const auto pid = ::fork();
  if (pid == 0) {
    const std::string text = work();
    const auto written = ::write(to.get(), text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  to.reset();
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 1; got > 0;) {
    got = ::read(from.get(), buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0 ? text : "the child failed: " + text;
}

// An argument of a call, counted from 0, and the bits of it that are looked at.
struct CallBits {
  std::uint32_t argument = 0;
  std::uint32_t bits = 0;
};

// The kernel refuses the call from now on, to this process for good: only in a child. Where bits are given, only the
// calls that have any of them set. False where that cannot be had.
inline bool refuse_call(long number, int error, CallBits only = {}) {
  const auto load = [](std::size_t offset) {
    return sock_filter{.code = BPF_LD | BPF_W | BPF_ABS, .jt = 0, .jf = 0, .k = static_cast<__u32>(offset)};
  };
  const auto answer = [](__u32 what) { return sock_filter{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = what}; };
  const auto low_half = offsetof(seccomp_data, args) + 8 * std::size_t{only.argument};
  const __u16 any = only.bits == 0 ? BPF_JMP | BPF_JA : BPF_JMP | BPF_JSET | BPF_K;
  std::array code{load(offsetof(seccomp_data, nr)),
                  sock_filter{.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 3, .k = static_cast<__u32>(number)},
                  load(low_half),
                  sock_filter{.code = any, .jt = 0, .jf = 1, .k = only.bits},
                  answer(SECCOMP_RET_ERRNO | (static_cast<__u32>(error) & SECCOMP_RET_DATA)),
                  answer(SECCOMP_RET_ALLOW)};
  const sock_fprog program{.len = code.size(), .filter = code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace gpulse
