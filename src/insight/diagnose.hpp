// SPDX-License-Identifier: Apache-2.0
// What samples of a stretch of time say about the GPUs. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "insight/finding.hpp"
#include "insight/thresholds.hpp"

namespace gpulse::insight {

struct Diagnosis {
  WallTime from{}, to{};  // of the first and the last sample
  std::size_t samples = 0;
  // The worst problem, by the GPU time that it costs; where there is none, what the GPUs do.
  FindingId verdict = FindingId::unknown;
  std::vector<Finding> findings{};  // the worst first
};

// Of samples by time, some seconds to some minutes of them: they are judged as one. A longer time goes to Watch.
Diagnosis diagnose(std::span<const SnapshotPtr> samples, const Thresholds &limits = {});

// The finding that counts most: of problems the one that costs most GPU time; without one, what the GPUs do, whatever
// else there is to note.
FindingId verdict_of(std::span<const Finding> findings);
// The worst first.
void sort_findings(std::vector<Finding> &findings);

// By how much the work could be faster at best if the finding were mended, where it costs anything.
std::optional<double> best_speedup(const Finding &finding);

}  // namespace gpulse::insight
