// SPDX-License-Identifier: Apache-2.0
// Where a monitor stands in the life of its process. Each has one as a member: it knows whether the process was forked
// since then, keeps samples from being taken during a fork, and ends the sampling before the program's own destructors
// run. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpulse::monitor {

class Monitor;

// How often this process, or one that it comes from, was forked, as seen from inside the child: what was made with
// another number belongs to the parent.
class ForkMark {
 public:
  ForkMark() : made_(forks.load(std::memory_order_relaxed)) {}
  bool is_forked() const { return made_ != forks.load(std::memory_order_relaxed); }

 private:
  friend class ForkGuard;
  inline static std::atomic<std::uint32_t> forks{0};
  std::uint32_t made_;
};

class ForkGuard {
 public:
  explicit ForkGuard(Monitor &monitor);
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;
  ~ForkGuard();

  bool is_forked() const { return mark_.is_forked(); }

 private:
  static void watch_process();
  static void prepare();
  static void after_in_parent();
  static void after_in_child();
  static void end_all();

  Monitor &monitor_;
  ForkMark mark_;
};

}  // namespace gpulse::monitor
