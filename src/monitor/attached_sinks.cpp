// SPDX-License-Identifier: Apache-2.0
#include "monitor/attached_sinks.hpp"

#include <algorithm>
#include <chrono>
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
  for (const auto &sample : attached.held) note(attached.sink->write(*sample->snapshot));
  attached.held.clear();
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

void AttachedSinks::write(const SamplePtr &sample) {
  take_new();
  for (auto &attached : sinks_) write(attached, sample);
}

void AttachedSinks::close() {
  take_new();
  for (auto &attached : sinks_) {
    write_held(attached);
    note(attached.sink->close());
  }
  sinks_.clear();
}

std::string AttachedSinks::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace gpulse::monitor
