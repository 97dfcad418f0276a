// SPDX-License-Identifier: Apache-2.0
// What samples of a stretch of time say about the GPUs. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "insight/finding.hpp"

namespace gpulse::insight {

struct Diagnosis {
  WallTime from{}, to{};  // of the first and the last sample
  std::size_t samples = 0;
  // The worst problem, by the GPU time that it costs; where there is none, what the GPUs do.
  FindingId verdict = FindingId::unknown;
  std::vector<Finding> findings{};  // the worst first
};

// Of samples by time, some seconds to some minutes of them: they are judged as one. A longer time goes to Watch.
Diagnosis diagnose(std::span<const SnapshotPtr> samples);

}  // namespace gpulse::insight
