// SPDX-License-Identifier: Apache-2.0
// The coarse phases of a job: before its GPUs first worked, then by turns busy and waiting, and after it left them.
// Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpulse::insight {

enum class PhaseKind : std::uint8_t { start_up, busy, stalled, off_gpu };
std::string_view word(PhaseKind kind);  // "start-up", "busy", "stalled", "off the GPU"

struct JobPhase {
  PhaseKind kind = PhaseKind::start_up;
  double from_seconds = 0, to_seconds = 0;
  double seconds() const { return to_seconds - from_seconds; }

  bool operator==(const JobPhase &) const = default;
};

class PhaseTracker {
 public:
  void add(double from, double to, PhaseKind kind);
  // Those shorter than some seconds or a fiftieth of the whole are part of the longer one beside them.
  std::vector<JobPhase> phases(double end_seconds) const;

 private:
  std::vector<JobPhase> phases_{};
};

}  // namespace gpulse::insight
