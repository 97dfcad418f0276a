// SPDX-License-Identifier: Apache-2.0
#include "monitor/fork_guard.hpp"

#include <pthread.h>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "monitor/monitor.hpp"

namespace gpulse::monitor {

namespace {

using namespace std::chrono_literals;

// A driver that hangs must not make every fork hang with it; the child has no use for that driver either.
constexpr auto kPatience = 200ms;
// As long as a stop may take; what is in a driver then is left behind.
constexpr auto kExitPatience = 300ms;

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

ForkGuard::ForkGuard(Monitor &monitor) : monitor_(monitor) {
  static std::once_flag once;
  std::call_once(once, watch_process);
  auto &all = known();
  const std::lock_guard lock(all.mutex);
  all.monitors.push_back(&monitor_);
  all.held.reserve(all.monitors.size());  // nothing is allocated while a fork goes on
}

ForkGuard::~ForkGuard() {
  auto &all = known();
  const std::lock_guard lock(all.mutex);
  std::erase(all.monitors, &monitor_);
}

void ForkGuard::watch_process() {
  ::pthread_atfork(prepare, after_in_parent, after_in_child);
  std::atexit(end_all);  // comes before the destructors of libraries, a driver's among them
}

void ForkGuard::prepare() {
  auto &all = known();
  all.mutex.lock();
  const auto until = monotonic_now() + kPatience;
  for (auto *monitor : all.monitors) {
    const auto turn = monitor->turns_.load(std::memory_order_relaxed);
    const bool hangs = monitor->hung_turn_ == turn;
    if (hangs ? monitor->sampling_.try_lock() : monitor->sampling_.try_lock_until(until)) {
      all.held.push_back(monitor);
    } else {
      monitor->hung_turn_ = turn;  // the next fork does not wait for it again
    }
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
  ForkMark::forks.fetch_add(1, std::memory_order_relaxed);
  all.monitors.clear();
  all.held.clear();
  all.mutex.unlock();
}

void ForkGuard::end_all() {
  auto &all = known();
  const std::lock_guard lock(all.mutex);
  for (auto *monitor : all.monitors) monitor->thread_.request_stop();
  const auto until = monotonic_now() + kExitPatience;
  for (auto *monitor : all.monitors) monitor->wait_for_end(until);
}

}  // namespace gpulse::monitor
