// SPDX-License-Identifier: Apache-2.0
// The findings of a job's whole life: of a short one judged in one go, of a long one as Watch sees them come and go,
// with those that return counted as one. One thread.
#pragma once

#include <vector>

#include "insight/job_report.hpp"
#include "insight/watch.hpp"

namespace gpulse::insight {

// Adds a finding to those of the job; the same one of the same devices is told once.
void add_finding(std::vector<JobFinding> &findings, const Finding &finding, WallTime begin);
// The worst first: problems by the GPU time that they cost, then notes.
void sort_findings(std::vector<JobFinding> &findings);

class JobFindings {
 public:
  // A sample of the job's GPUs.
  void add(const SnapshotPtr &sample);
  // Puts verdict and findings into a report that is complete otherwise.
  void finish(JobReport &report);

 private:
  Watch watch_{};
  std::vector<SnapshotPtr> all_{};  // as long as the job is short
  bool is_short_ = true;
  std::vector<LastingFinding> ended_{};
};

}  // namespace gpulse::insight
