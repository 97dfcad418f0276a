// SPDX-License-Identifier: Apache-2.0
#include "insight/out_of_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "metric/format.hpp"

namespace gpulse::insight {

namespace {

constexpr double kNearlyFull = 0.92;    // of the memory, with which an allocation may fail
constexpr double kMost = 0.5;           // of the memory, held by others
constexpr double kRise = 0.02;          // of the memory, in a quarter of its life: it grows
constexpr double kLongEnough = 30;      // seconds, to tell growth from loading
constexpr double kFirstStep = 20;       // seconds from a quarter of the peak to the end
constexpr std::size_t kLastPoints = 3;  // the end lies in one of them

// People and batch systems end a job with these; what runs out of memory ends by itself or aborts.
bool ended_by_itself(const JobEnd &how) {
  if (how.code == 0) return false;
  constexpr std::array kCrashes{0, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  return std::ranges::find(kCrashes, how.signal) != kCrashes.end();
}

// The greatest of the last points that the job was there.
double at_end(const JobCurve &curve, const JobGpu &gpu) {
  const auto end = static_cast<std::size_t>(gpu.last_seconds / curve.step_seconds()) + 1;
  double most = 0;
  for (auto i = end > kLastPoints ? end - kLastPoints : 0; i < end; ++i) most = std::max(most, curve.at(i).value_or(0));
  return most;
}

// The last value known at that time.
double value_at(const JobCurve &curve, double seconds) {
  for (auto i = static_cast<std::size_t>(seconds / curve.step_seconds()) + 1; i-- > 0;) {
    if (const auto value = curve.at(i)) return *value;
  }
  return 0;
}

double first_above(const JobCurve &curve, double value, double otherwise) {
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve.at(i).value_or(0) >= value) return static_cast<double>(i) * curve.step_seconds();
  }
  return otherwise;
}

std::string sentence(OutOfMemoryCause cause, double job, double others, double total) {
  const auto of_all = format_bytes(total);
  switch (cause) {
    case OutOfMemoryCause::other_process:
      return fmt::format(
          "The job failed while others held {} of {} of GPU memory: it most likely ran out of what was left",
          format_bytes(others), of_all);
    case OutOfMemoryCause::growth:
      return fmt::format(
          "The job's GPU memory grew until {} of {} were used, and it failed: it most likely ran out of memory",
          format_bytes(job + others), of_all);
    case OutOfMemoryCause::first_step:
      return fmt::format(
          "The job failed as soon as it had filled {} of {} of GPU memory: its first step is most likely too large",
          format_bytes(job + others), of_all);
    case OutOfMemoryCause::unknown:
      break;
  }
  return fmt::format(
      "The job failed with {} of {} of GPU memory in use: a step that needed more than those before most likely ran "
      "out of memory",
      format_bytes(job + others), of_all);
}

}  // namespace

bool takes_all_memory(std::string_view framework) {
  return framework == "TensorFlow" || framework == "JAX" || framework == "vLLM";
}

std::optional<OutOfMemoryCause> out_of_memory_cause(const JobEnd &how, const JobGpu &gpu) {
  if (!ended_by_itself(how) || takes_all_memory(gpu.framework) || !gpu.total_memory_bytes) return std::nullopt;
  const double total = gpu.total_memory_bytes.value();
  const double used = at_end(gpu.device_memory, gpu);
  if (total <= 0 || used < kNearlyFull * total) return std::nullopt;
  const double job = at_end(gpu.memory, gpu);
  if (gpu.shared && used - job >= kMost * total) return OutOfMemoryCause::other_process;
  if (gpu.last_seconds - first_above(gpu.memory, job / 4, gpu.first_seconds) <= kFirstStep) {
    return OutOfMemoryCause::first_step;
  }
  const double life = gpu.last_seconds - gpu.first_seconds;
  const double half = value_at(gpu.memory, gpu.first_seconds + life / 2);
  const double late = value_at(gpu.memory, gpu.first_seconds + life * 3 / 4);
  const bool grows = late - half >= kRise * total && job - late >= kRise * total;
  return life >= kLongEnough && grows ? OutOfMemoryCause::growth : OutOfMemoryCause::unknown;
}

std::optional<Finding> out_of_memory(const JobReport &report) {
  constexpr double kSure = 0.97;
  for (const auto &gpu : report.gpus) {
    const auto cause = out_of_memory_cause(report.how, gpu);
    if (!cause) continue;
    const double total = gpu.total_memory_bytes.value();
    const double used = at_end(gpu.device_memory, gpu);
    const double job = at_end(gpu.memory, gpu);
    const auto end = report.begin + std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(gpu.last_seconds));
    return Finding{.id = FindingId::out_of_memory,
                   .weight = Weight::problem,
                   .confidence = used >= kSure * total ? 0.8 : 0.6,
                   .estimated = true,
                   .devices = {gpu.id},
                   .since = end,
                   .until = report.end,
                   .text = sentence(*cause, job, std::max(used - job, 0.0), total),
                   .evidence = {{"memory_used_bytes", used, Unit::bytes},
                                {"memory_total_bytes", total, Unit::bytes},
                                {"gpu_memory_bytes", job, Unit::bytes},
                                {"exit_code", static_cast<double>(report.how.code)}},
                   .advice = advice(FindingId::out_of_memory, {.framework = gpu.framework, .cause = *cause})};
  }
  return std::nullopt;
}

}  // namespace gpulse::insight
