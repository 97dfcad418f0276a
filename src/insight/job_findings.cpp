// SPDX-License-Identifier: Apache-2.0
#include "insight/job_findings.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "insight/out_of_memory.hpp"

namespace gpulse::insight {

namespace {

constexpr std::size_t kMostFindings = 64, kMostStretches = 100;

}  // namespace

void add_finding(std::vector<JobFinding> &findings, const Finding &finding, WallTime begin) {
  const JobFinding::Stretch stretch{std::max(Seconds(finding.since - begin).count(), 0.0),
                                    std::max(Seconds(finding.until - begin).count(), 0.0)};
  const auto is_same = [&](const JobFinding &other) {
    return other.finding.id == finding.id && other.finding.devices == finding.devices;
  };
  auto found = std::ranges::find_if(findings, is_same);
  if (found == findings.end()) {
    if (findings.size() >= kMostFindings) return;
    findings.push_back({.finding = finding});
    found = findings.end() - 1;
  } else {
    // The words of the longest stretch stand for all.
    auto &told = found->finding;
    const auto since = std::min(told.since, finding.since), until = std::max(told.until, finding.until);
    const auto longest = std::ranges::max(
        found->stretches, {}, [](const JobFinding::Stretch &one) { return one.to_seconds - one.from_seconds; });
    if (stretch.to_seconds - stretch.from_seconds > longest.to_seconds - longest.from_seconds) told = finding;
    told.since = since;
    told.until = until;
  }
  found->seconds += stretch.to_seconds - stretch.from_seconds;
  if (found->stretches.size() < kMostStretches) found->stretches.push_back(stretch);
}

void sort_findings(std::vector<JobFinding> &findings) {
  std::ranges::sort(findings, std::greater<>{}, [](const JobFinding &one) {
    // What the job died of comes before what slowed it down.
    const bool fatal = one.finding.id == FindingId::out_of_memory;
    return std::tuple(one.finding.weight, fatal, one.finding.lost_share.value_or(0) * one.seconds, one.seconds,
                      one.finding.id, one.finding.devices);
  });
}

void finish(JobReport &report, const std::optional<Diagnosis> &diagnosis) {
  if (diagnosis) {
    report.verdict = diagnosis->verdict;
    for (const auto &finding : diagnosis->findings) {
      if (finding.weight != Weight::ok) add_finding(report.findings, finding, report.begin);
    }
  }
  // Seen more closely here, where the job's end is known.
  if (const auto died = out_of_memory(report)) {
    std::erase_if(report.findings, [](const JobFinding &one) { return one.finding.id == FindingId::out_of_memory; });
    add_finding(report.findings, *died, report.begin);
    report.verdict = died->id;
  }
  sort_findings(report.findings);
}

}  // namespace gpulse::insight
