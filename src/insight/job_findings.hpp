// SPDX-License-Identifier: Apache-2.0
// The findings of a job's whole life, with those that return counted as one. Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "insight/diagnose.hpp"
#include "insight/job_report.hpp"

namespace gpulse::insight {

// Adds a finding to those of the job; the same one of the same devices is told once.
void add_finding(std::vector<JobFinding> &findings, const Finding &finding, WallTime begin);
// The worst first: problems by the GPU time that they cost, then notes.
void sort_findings(std::vector<JobFinding> &findings);

// Puts verdict and findings into a report that is complete otherwise, with what only the job's end tells. `diagnosis`:
// of its own GPUs while it ran; none: there was nothing to judge.
void finish(JobReport &report, const std::optional<Diagnosis> &diagnosis);

}  // namespace gpulse::insight
