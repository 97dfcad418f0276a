// SPDX-License-Identifier: Apache-2.0
// Part of gpulse.hpp: why the devices are not busy, and what to do.
#ifndef GPULSE_FINDINGS_HPP
#define GPULSE_FINDINGS_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpulse.h"
#include "sample.hpp"

namespace gpulse {
inline namespace v1 {

using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

// A copy: it outlives whatever it was asked of. gpulse.h has a line on each.
struct Finding {
  std::uint64_t number;  // stays the same while it lasts; 0: of diagnose()
  std::string id;        // "input-cpu", "launch-bound", "hung", ...
  gpulse_severity severity;
  bool estimated;
  double confidence;  // from 0 to 1
  Value lost_share;   // of GPU time, from 0 to 1
  Time since, until;
  std::string text;                         // one sentence
  std::vector<std::string> devices, uuids;  // as long as each other
  std::vector<std::uint32_t> pids;
  std::vector<std::pair<std::string, double>> evidence;  // the numbers that it rests on
  std::vector<std::string> advice;                       // what to try, the first first
};

struct Findings {
  std::uint32_t samples;     // that were judged; 0: too few to say anything
  Time begin, end;           // of these
  std::string verdict;       // the id of what counts most
  std::vector<Finding> all;  // the worst first
};

namespace detail {

inline Time time_of(std::int64_t nanoseconds) { return Time(std::chrono::nanoseconds(nanoseconds)); }

inline std::vector<std::string> strings(const char *const *texts, std::uint32_t count) {
  return count == 0 ? std::vector<std::string>() : std::vector<std::string>(texts, texts + count);
}

inline Finding copy_of(const gpulse_finding &told) {
  Finding made{told.number,
               told.id,
               told.severity,
               told.estimated != 0,
               told.confidence,
               Value(told.lost_share),
               time_of(told.since),
               time_of(told.until),
               told.text,
               strings(told.devices, told.device_count),
               strings(told.uuids, told.device_count),
               {},
               {},
               strings(told.advice, told.advice_count)};
  if (told.pid_count > 0) made.pids.assign(told.pids, told.pids + told.pid_count);
  for (std::uint32_t i = 0; i < told.fact_count; ++i) made.evidence.emplace_back(told.facts[i], told.values[i]);
  return made;
}

// Frees the handle, which is not null.
inline Findings findings_of(gpulse_findings *handle) {
  const std::unique_ptr<gpulse_findings, void (*)(gpulse_findings *)> owner(handle, gpulse_findings_free);
  auto info = sized<gpulse_findings_info>();
  check(gpulse_get_findings_info(handle, &info));
  Findings made{info.samples, time_of(info.begin), time_of(info.end), info.verdict, {}};
  for (std::uint32_t i = 0; i < info.count; ++i) {
    auto one = sized<gpulse_finding>();
    check(gpulse_get_finding(handle, i, &one));
    made.all.push_back(copy_of(one));
  }
  return made;
}

}  // namespace detail

}  // namespace v1
}  // namespace gpulse

#endif
