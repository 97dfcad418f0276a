// SPDX-License-Identifier: Apache-2.0
#include "monitor/attached_sinks.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>

namespace gpulse::monitor {

namespace {

using namespace std::chrono_literals;

// A program that sets steps has set the first by then; loading a model and its data may take a while.
constexpr auto kStepsWithin = 60s;
constexpr std::size_t kMostHeld = 600;

}  // namespace

void AttachedSinks::add(std::unique_ptr<sink::Sink> sink, bool steps_may_come) {
  const std::lock_guard lock(mutex_);
  new_.push_back({.sink = std::move(sink), .undecided = steps_may_come});
}

void AttachedSinks::take_new() {
  const std::lock_guard lock(mutex_);
  std::ranges::move(new_, std::back_inserter(sinks_));
  new_.clear();
}

void AttachedSinks::note(const Result<void> &written) {
  if (written) return;
  const std::lock_guard lock(mutex_);
  problem_ = written.error().line();
}

void AttachedSinks::write_held(Attached &attached) {
  attached.undecided = false;
  const auto held = std::exchange(attached.held, {});
  for (const auto &sample : held) note(attached.sink->write(*sample->snapshot));
}

void AttachedSinks::write(Attached &attached, const SamplePtr &sample) {
  if (attached.undecided && sample->step) {
    // They were taken before the training began.
    attached.undecided = false;
    attached.held.clear();
  }
  if (!attached.undecided) {
    note(attached.sink->write(*sample->snapshot, sample->step));
    return;
  }
  attached.held.push_back(sample);
  const bool enough = sample->at - attached.held.front()->at >= kStepsWithin || attached.held.size() >= kMostHeld;
  if (enough) write_held(attached);
}

// What one sink throws is that one's problem.
void AttachedSinks::with_each(const std::function<void(Attached &)> &work) {
  take_new();
  for (auto &attached : sinks_) {
    try {
      work(attached);
    } catch (const std::exception &problem) {
      note(failure(problem.what()));
    }
  }
}

void AttachedSinks::write(const SamplePtr &sample) {
  with_each([&](Attached &attached) { write(attached, sample); });
}

void AttachedSinks::close() {
  with_each([&](Attached &attached) { write_held(attached); });
  with_each([&](Attached &attached) { note(attached.sink->close()); });
  sinks_.clear();
}

std::string AttachedSinks::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace gpulse::monitor
