// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_watch.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace gpulse::fleet {

FleetWatch::FleetWatch(FleetWatchOptions options)
    : options_(std::move(options)),
      asker_(options_.engine),
      place_(asker_.place()),
      interval_(options_.interval),
      thread_([this](const std::stop_token &stop) { run(stop); }) {}

FleetWatch::~FleetWatch() {
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  question_.request_stop();
}

FleetNews FleetWatch::news() const {
  const std::lock_guard lock(mutex_);
  return news_;
}

void FleetWatch::look_at(std::optional<WallTime> moment) {
  {
    const std::lock_guard lock(mutex_);
    news_ = {.at = moment};
    ++turn_;
    question_.request_stop();
  }
  wake_.notify_all();
}

void FleetWatch::set_interval(std::chrono::nanoseconds interval) {
  {
    const std::lock_guard lock(mutex_);
    interval_ = interval;
  }
  wake_.notify_all();
}

void FleetWatch::run(const std::stop_token &stop) {
  std::optional<std::uint64_t> asked;  // the turn that the last question belonged to
  auto begun = monotonic_now(), ended = begun;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    // Of a moment in the past one answer is enough; one that did not come is asked for again.
    const bool is_settled = news_.at && news_.fleet != nullptr && news_.trouble.empty();
    const auto due = next_turn(begun, interval_, ended);
    const bool is_due = asked != turn_ || (!is_settled && monotonic_now() >= due);
    if (!is_due) {
      const auto turn = turn_;
      const auto interval = interval_;
      const auto until = is_settled ? monotonic_now() + std::chrono::hours(24) : due;
      wake_.wait_until(lock, stop, until, [&] { return turn_ != turn || interval_ != interval; });
      continue;
    }
    asked = turn_;
    begun = monotonic_now();
    question_ = std::stop_source();
    news_.is_asking = true;
    news_.asking_since = begun;
    const auto moment = news_.at;
    lock.unlock();
    if (options_.changed) options_.changed();
    ask_and_tell(question_.get_token(), moment, *asked);
    ended = monotonic_now();
    lock.lock();
  }
}

EngineResult<FleetPtr> FleetWatch::ask(const std::stop_token &stop, std::optional<WallTime> moment) {
  try {
    return asker_.ask(moment.value_or(wall_now()), stop);
  } catch (const std::exception &fault) {
    return std::unexpected(
        EngineError{EngineFault::too_much, {fmt::format("the engine was not asked: {}", fault.what())}});
  }
}

void FleetWatch::ask_and_tell(const std::stop_token &stop, std::optional<WallTime> moment, std::uint64_t turn) {
  auto fleet = ask(stop, moment);
  {
    const std::lock_guard lock(mutex_);
    if (turn != turn_ || stop.stop_requested()) return;
    news_.is_asking = false;
    const auto error = fleet ? Error{} : std::move(fleet.error().error);
    news_.trouble = error.what;
    news_.hint = error.remedy;
    if (fleet) news_.fleet = std::move(*fleet);
  }
  if (options_.changed) options_.changed();
}

}  // namespace gpulse::fleet
