// SPDX-License-Identifier: Apache-2.0
// The GPU computes, with the wrong units: in double precision, or in single precision beside the tensor cores.
#include <fmt/format.h>

#include <algorithm>

#include "insight/rules/parts.hpp"

namespace gpulse::insight::rules {

namespace {

// By how much the tensor cores in TF32 are faster than each of these, by the data sheets of Hopper and Ampere boards.
constexpr double kTf32OverFp64 = 7, kTf32OverFp32 = 7;

bool computes(const DeviceSignals &signals, const Thresholds &limits) {
  return signals.has_compute_job() && signals.sm.value_or(0) >= limits.working_sm_percent;
}

void add_pipes(Finding &finding, const DeviceSignals &signals) {
  add_evidence(finding, {{"sm_active_percent", signals.sm},
                         {"tensor_active_percent", signals.tensor},
                         {"tensor_fp64_active_percent", signals.tensor_fp64},
                         {"fp64_active_percent", signals.fp64},
                         {"fp32_active_percent", signals.fp32},
                         {"dram_active_percent", signals.dram}});
}

}  // namespace

Judgement wrong_precision(const DeviceSignals &signals, const Thresholds &limits) {
  const double fp64 = std::max(signals.tensor_fp64.value_or(0), signals.fp64.value_or(0));
  const double other = std::max(signals.tensor.value_or(0) - signals.tensor_fp64.value_or(0), signals.fp32.value_or(0));
  if (!computes(signals, limits) || fp64 < limits.fp64_percent || fp64 < other) return std::nullopt;
  // Simulations need it; what runs under Python or a framework of machine learning hardly ever does.
  const bool learns = std::ranges::any_of(
      signals.jobs, [](const JobSignals &job) { return !job.framework.empty() || mentions(job, {"python", "torch"}); });
  constexpr double kFar = 30;
  const bool tensor = signals.tensor_fp64.value_or(0) >= signals.fp64.value_or(0);
  auto finding =
      finding_of(FindingId::wrong_precision, learns ? Weight::problem : Weight::note, signals,
                 sureness(fp64, limits.fp64_percent, kFar),
                 fmt::format("The GPU computes in double precision: its {} are busy {} of the time with 64-bit numbers",
                             tensor ? "tensor cores" : "units", percent_words(fp64)));
  finding.lost_share = fp64 / *signals.sm * (1 - 1 / kTf32OverFp64);
  add_pipes(finding, signals);
  auto context = context_of(signals);
  context.lost_share = finding.lost_share;
  add_advice(finding, context);
  return finding;
}

Judgement tensor_unused(const DeviceSignals &signals, const Thresholds &limits) {
  if (!computes(signals, limits) || !signals.tensor || !signals.fp32) return std::nullopt;
  if (*signals.tensor >= limits.tensor_percent || *signals.fp32 < limits.pipe_percent) return std::nullopt;
  constexpr double kFar = 30;
  auto finding = finding_of(
      FindingId::tensor_unused, Weight::problem, signals, sureness(*signals.fp32, limits.pipe_percent, kFar),
      fmt::format("The GPU multiplies in 32 bit beside its tensor cores: those are used {} of the time, the 32-bit "
                  "units {}",
                  percent_words(*signals.tensor), percent_words(*signals.fp32)));
  finding.lost_share = std::min(1.0, *signals.fp32 / *signals.sm) * (1 - 1 / kTf32OverFp32);
  add_pipes(finding, signals);
  auto context = context_of(signals);
  context.lost_share = finding.lost_share;
  add_advice(finding, context);
  return finding;
}

}  // namespace gpulse::insight::rules
