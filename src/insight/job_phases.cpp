// SPDX-License-Identifier: Apache-2.0
#include "insight/job_phases.hpp"

#include <algorithm>

namespace gpulse::insight {

namespace {

constexpr std::size_t kMostPhases = 256;
constexpr double kShortest = 2;  // seconds
constexpr double kShortestShare = 0.02;

void join_equal(std::vector<JobPhase> &phases) {
  std::vector<JobPhase> joined;
  for (const auto &phase : phases) {
    if (!joined.empty() && joined.back().kind == phase.kind) {
      joined.back().to_seconds = phase.to_seconds;
    } else {
      joined.push_back(phase);
    }
  }
  phases = std::move(joined);
}

// The shortest becomes part of its longer neighbour, until none is shorter than this or so many are left.
void smooth(std::vector<JobPhase> &phases, double shortest, std::size_t most) {
  while (phases.size() > 1) {
    const auto least = std::ranges::min_element(phases, {}, &JobPhase::seconds);
    if (least->seconds() >= shortest && phases.size() <= most) return;
    const auto before = least == phases.begin() ? phases.end() : least - 1;
    const auto after = least + 1;
    const bool into_before = before != phases.end() && (after == phases.end() || before->seconds() >= after->seconds());
    least->kind = into_before ? before->kind : after->kind;
    join_equal(phases);
  }
}

}  // namespace

std::string_view word(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::start_up:
      return "start-up";
    case PhaseKind::busy:
      return "busy";
    case PhaseKind::stalled:
      return "stalled";
    case PhaseKind::off_gpu:
      break;
  }
  return "off the GPU";
}

void PhaseTracker::add(double from, double to, PhaseKind kind) {
  if (phases_.empty()) {
    phases_.push_back({kind, 0, to});
  } else if (phases_.back().kind == kind) {
    phases_.back().to_seconds = to;
  } else {
    // What no sample told of belongs to the phase before.
    phases_.back().to_seconds = std::max(from, phases_.back().to_seconds);
    phases_.push_back({kind, phases_.back().to_seconds, to});
  }
  if (phases_.size() > kMostPhases) smooth(phases_, 0, kMostPhases / 2);
}

std::vector<JobPhase> PhaseTracker::phases(double end_seconds) const {
  auto phases = phases_;
  if (phases.empty()) return phases;
  phases.back().to_seconds = std::max(end_seconds, phases.back().from_seconds);
  smooth(phases, std::max(kShortest, end_seconds * kShortestShare), kMostPhases);
  return phases;
}

}  // namespace gpulse::insight
