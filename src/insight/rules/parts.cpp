// SPDX-License-Identifier: Apache-2.0
#include "insight/rules/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metric/format.hpp"

namespace gpulse::insight::rules {

double sureness(double value, double threshold, double far) {
  constexpr double kLeast = 0.5, kMost = 0.95;
  return std::clamp(kLeast + (kMost - kLeast) * std::abs(value - threshold) / far, kLeast, kMost);
}

Finding finding_of(FindingId id, Weight weight, const DeviceSignals &signals, double confidence, std::string text) {
  constexpr double kEnough = 10;  // seconds
  constexpr double kShort = 0.6;
  const double length = std::min(1.0, signals.seconds / kEnough);
  return {.id = id,
          .weight = weight,
          .confidence = confidence * (kShort + (1 - kShort) * length),
          .estimated = !signals.tells_work(),
          .devices = {signals.id},
          .pids = signals.pids(),
          .text = std::move(text)};
}

void add_evidence(Finding &finding, std::initializer_list<Known> facts) {
  for (const auto &[name, value, unit] : facts) {
    if (value) finding.evidence.push_back({.name = std::string(name), .value = *value, .unit = unit});
  }
}

void add_host_evidence(Finding &finding, const DeviceSignals &signals) {
  add_evidence(finding, {{"job_cpu_percent", signals.job_sum(&JobSignals::cpu_percent)},
                         {"job_processes", signals.job_sum(&JobSignals::processes), Unit::none},
                         {"job_busy_processes", signals.job_sum(&JobSignals::busy_processes), Unit::none},
                         {"job_read_bytes_per_second", signals.job_sum(&JobSignals::read_bytes_per_second),
                          Unit::bytes_per_second},
                         {"job_disk_wait_percent", signals.job_sum(&JobSignals::disk_wait_percent)},
                         {"host_cpu_count", signals.host.cores, Unit::none},
                         {"host_idle_cores", signals.host.idle_cores(), Unit::none}});
}

AdviceContext context_of(const DeviceSignals &signals) {
  AdviceContext context;
  context.framework = signals.framework();
  if (signals.jobs.size() == 1) context.pid = signals.jobs.front().pid;
  context.cores = signals.host.cores;
  context.idle_cores = signals.host.idle_cores();
  context.tree_processes = signals.job_sum(&JobSignals::processes);
  context.busy_processes = signals.job_sum(&JobSignals::busy_processes);
  return context;
}

void add_advice(Finding &finding, const AdviceContext &context) { finding.advice = advice(finding.id, context); }

std::string cpu_words(const DeviceSignals &signals) {
  const auto cpu = signals.job_sum(&JobSignals::cpu_percent);
  const auto processes = signals.job_sum(&JobSignals::processes);
  const auto busy = signals.job_sum(&JobSignals::busy_processes);
  std::string words;
  if (processes && busy && std::round(*busy) >= 1 && *processes > 1) {
    const auto count = std::round(*busy);
    words = fmt::format("{} of the job's {} processes use{} a whole core{}", count, std::round(*processes),
                        count == 1 ? "s" : "", count == 1 ? "" : " each");
  } else if (cpu) {
    words = fmt::format("the job uses {} of a core", percent_words(*cpu));
  }
  const auto idle = signals.host.idle_cores();
  if (!words.empty() && idle && signals.host.cores) {
    words += fmt::format(", {:.0f} of {:.0f} cores are idle", std::floor(*idle + 0.1), *signals.host.cores);
  }
  return words;
}

std::string size_words(double bytes) { return format_bytes(bytes); }

std::string rate_words(double bytes_per_second) {
  constexpr double kMega = 1e6, kGiga = 1e9;
  if (bytes_per_second >= kGiga) return fmt::format("{:.1f} GB/s", bytes_per_second / kGiga);
  return fmt::format("{:.0f} MB/s", bytes_per_second / kMega);
}

std::string percent_words(double percent) {
  constexpr double kFew = 1;
  return percent > 0 && percent < kFew ? fmt::format("{:.1g} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string duration_words(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kTwo = 2, kFew = 10;
  if (seconds < kFew) return fmt::format("{:.1f} s", seconds);
  if (seconds < kTwo * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < kTwo * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.0f} h", seconds / kHour);
}

bool mentions(const JobSignals &job, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return job.command.find(word) != std::string::npos || job.name.find(word) != std::string::npos ||
           job.framework.find(word) != std::string::npos;
  });
}

bool is_interactive(const JobSignals &job) {
  // A Python without a program, or one that stays after it, is a person at a prompt.
  const auto program = job.command.substr(0, job.command.find(' '));
  const auto rest = job.command.substr(program.size());
  const bool prompt =
      program.substr(program.rfind('/') + 1).starts_with("python") && (rest.empty() || rest.starts_with(" -i"));
  return prompt || mentions(job, {"ipykernel", "jupyter", "ipython", "notebook", "colab_kernel", "marimo"});
}

bool is_server(const JobSignals &job) {
  return mentions(job, {"vllm", "vLLM", "tritonserver", "Triton Server", "ollama", "llama-server", "text-generation",
                        "sglang", "torchserve", "uvicorn", "gunicorn", "ray::", "comfyui", "ComfyUI", "webui"});
}

bool takes_all_memory(const JobSignals &job) { return mentions(job, {"TensorFlow", "JAX", "vLLM", "vllm", "sglang"}); }

bool takes_all_memory(const DeviceSignals &signals) {
  return std::ranges::any_of(signals.jobs, [](const JobSignals &job) { return takes_all_memory(job); });
}

}  // namespace gpulse::insight::rules
