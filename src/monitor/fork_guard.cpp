// SPDX-License-Identifier: Apache-2.0
#include "monitor/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>

#include "monitor/monitor.hpp"

namespace gpulse::monitor {

namespace {

using namespace std::chrono_literals;

// A driver that hangs must not make every fork hang with it; the child has no use for that driver either.
constexpr auto kPatience = 200ms;

struct Known {
  std::mutex mutex;
  std::vector<Monitor *> monitors;
  std::vector<Monitor *> held;  // during a fork: those whose sampling is kept off
};

// Never destroyed: a fork may come while the program ends.
Known &known() {
  static auto &one = *new Known;
  return one;
}

}  // namespace

void ForkGuard::add(Monitor *monitor) {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(prepare, after_in_parent, after_in_child); });
  const std::lock_guard lock(known().mutex);
  known().monitors.push_back(monitor);
}

void ForkGuard::remove(Monitor *monitor) {
  const std::lock_guard lock(known().mutex);
  std::erase(known().monitors, monitor);
}

void ForkGuard::prepare() {
  auto &all = known();
  all.mutex.lock();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (auto *monitor : all.monitors) {
    if (monitor->sampling_.try_lock_until(until)) all.held.push_back(monitor);
  }
}

void ForkGuard::after_in_parent() {
  auto &all = known();
  for (auto *monitor : all.held) monitor->sampling_.unlock();
  all.held.clear();
  all.mutex.unlock();
}

void ForkGuard::after_in_child() {
  auto &all = known();
  for (auto *monitor : all.monitors) monitor->forked_ = true;
  all.monitors.clear();
  all.held.clear();
  all.mutex.unlock();
}

}  // namespace gpulse::monitor
