// SPDX-License-Identifier: Apache-2.0
// What the rules say of real work on an H200 whose kind is known: ten kinds in a trace, and jobs in three recordings.
// Also in short windows, with samples missing, at one sample a second, and as a GPU sees it that does not tell what its
// processors do. GPULSE_MARGINS=1 prints how far each threshold can move before a verdict changes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <regex>

#include "insight/catalogue.hpp"
#include "insight/diagnose.hpp"
#include "insight/watch.hpp"
#include "record/replay.hpp"

namespace gpulse::insight {
namespace {

using std::chrono_literals::operator""s;
using Samples = std::vector<SnapshotPtr>;

struct Stretch {
  std::string name;
  Samples samples;
};

// What someone who knows the programs says of them (the trace's and the recording's index).
const std::map<std::string, FindingId> kTruth{
    {"idle", FindingId::idle},
    {"compute_bound_tensor", FindingId::healthy},
    {"compute_bound_fp32_no_tensor", FindingId::tensor_unused},
    {"memory_bandwidth_bound", FindingId::memory_bandwidth},
    {"launch_bound_small_kernels", FindingId::launch_bound},
    {"cpu_input_bound", FindingId::input_cpu},
    {"io_input_bound", FindingId::input_io},
    {"pcie_copy_bound", FindingId::copy_bound},
    {"memory_leak_to_oom", FindingId::memory_leak},
    {"hung_holding_memory", FindingId::hung},
    {"spin_single_block", FindingId::spinning},
    {"vit_train_bf16", FindingId::healthy},
    {"diffusion_like_inference", FindingId::healthy},
    {"lstm_tiny_batch", FindingId::launch_bound},
    {"augment_in_main_process", FindingId::input_cpu},
    {"reads_from_slow_disk", FindingId::input_io},
    {"embedding_tables", FindingId::memory_bandwidth},
    {"pinned_copies_back_and_forth", FindingId::copy_bound},
    {"fp64_by_accident", FindingId::wrong_precision},
    {"slow_leak", FindingId::memory_leak},
    {"takes_90_percent_then_trains", FindingId::healthy},
    {"validation_on_cpu_every_6s", FindingId::periodic_stalls},
    {"stuck_after_work", FindingId::hung},
    {"spinning_kernel_one_block", FindingId::spinning},
    {"one_of_two", FindingId::healthy},
    {"resnet_batch_2", FindingId::launch_bound},
    {"lightning_starved", FindingId::input_cpu},
    {"transformer_fp32", FindingId::tensor_unused},
    {"trainer_starved", FindingId::input_cpu},
    {"pageable_copies", FindingId::copy_bound},
    {"random_reads", FindingId::input_io},
};

std::string data(const char *name) { return std::string(GPULSE_TEST_DATA) + "/workloads/" + name; }

Samples samples_of(record::Replay &replay) {
  Samples samples;
  for (std::size_t i = 0; i < replay.size(); ++i) samples.push_back(*replay.at(i));
  return samples;
}

std::vector<Stretch> trace_stretches() {
  auto replay = record::Replay::open(data("labelled.csv"));
  std::vector<Stretch> stretches;
  for (const auto &sample : samples_of(*replay)) {
    for (const auto &event : sample->events) stretches.push_back({event.text.str(), {}});
    stretches.back().samples.push_back(sample);
  }
  return stretches;
}

std::vector<Stretch> job_stretches(const std::string &name) {
  auto replay = record::Replay::open(data((name + ".gpr").c_str()));
  const auto all = samples_of(*replay);
  std::ifstream file(data((name + ".labels.json").c_str()));
  const std::string labels((std::istreambuf_iterator<char>(file)), {});
  const std::regex entry(R"re("job": "(\w+)",\s*"from_s": ([\d.]+),\s*"to_s": ([\d.]+))re");
  std::vector<Stretch> stretches;
  for (std::sregex_iterator at(labels.begin(), labels.end(), entry), end; at != end; ++at) {
    Stretch stretch{(*at)[1], {}};
    for (const auto &sample : all) {
      const double when = Seconds(sample->time - all.front()->time).count();
      if (when >= std::stod((*at)[2]) && when <= std::stod((*at)[3])) stretch.samples.push_back(sample);
    }
    stretches.push_back(std::move(stretch));
  }
  return stretches;
}

const std::vector<Stretch> &stretches() {
  static const auto kAll = [] {
    auto all = trace_stretches();
    for (auto &stretch : job_stretches("jobs")) all.push_back(std::move(stretch));
    return all;
  }();
  return kAll;
}

Samples between(const Samples &samples, WallTime from, WallTime to) {
  Samples window;
  std::ranges::copy_if(samples, std::back_inserter(window),
                       [&](const SnapshotPtr &sample) { return sample->time >= from && sample->time <= to; });
  return window;
}

// All windows of this length, each beginning half a length after the one before.
std::vector<Samples> windows_of(const Samples &samples, std::chrono::seconds length) {
  std::vector<Samples> windows;
  for (auto from = samples.front()->time; from + length <= samples.back()->time; from += length / 2) {
    windows.push_back(between(samples, from, from + length));
  }
  return windows;
}

Samples without_some(const Samples &samples, unsigned seed) {
  std::minstd_rand random(seed);
  Samples kept;
  for (const auto &sample : samples) {
    if (std::uniform_real_distribution<>(0, 1)(random) >= 0.2) kept.push_back(sample);
  }
  return kept;
}

Samples at_one_hertz(const Samples &samples) {
  Samples kept;
  for (const auto &sample : samples) {
    if (kept.empty() || sample->time - kept.back()->time >= std::chrono::milliseconds(990)) kept.push_back(sample);
  }
  return kept;
}

// As a GPU before Hopper is seen.
Samples without_processors(const Samples &samples) {
  Samples changed;
  for (const auto &sample : samples) {
    auto copy = std::make_shared<Snapshot>(*sample);
    for (auto &device : copy->devices) {
      for (const auto id : {device_metric("sm_active_percent"), device_metric("sm_occupancy_percent"),
                            device_metric("graphics_active_percent"), device_metric("tensor_active_percent"),
                            device_metric("tensor_fp64_active_percent"), device_metric("tensor_fp16_active_percent"),
                            device_metric("tensor_integer_active_percent"), device_metric("integer_active_percent"),
                            device_metric("dram_active_percent"), device_metric("fp64_active_percent"),
                            device_metric("fp32_active_percent"), device_metric("fp16_active_percent"),
                            device_metric("pcie_rx_bytes_per_second"), device_metric("pcie_tx_bytes_per_second")}) {
        device.row[id] = Reason::not_supported;
      }
    }
    changed.push_back(std::move(copy));
  }
  return changed;
}

std::vector<std::string> problems(const Diagnosis &diagnosis) {
  std::vector<std::string> words;
  for (const auto &finding : diagnosis.findings) {
    if (finding.weight == Weight::problem) words.emplace_back(word(finding.id));
  }
  return words;
}

// The finding that the kind of work has, and no other problem.
void expect_truth(const std::string &name, const Diagnosis &diagnosis) {
  const auto truth = kTruth.find(name);
  // While a process starts nobody can know what it will do.
  if (truth == kTruth.end()) {
    EXPECT_THAT(problems(diagnosis), testing::IsEmpty());
    return;
  }
  EXPECT_EQ(word(diagnosis.verdict), word(truth->second));
  for (const auto &problem : problems(diagnosis)) EXPECT_EQ(problem, word(truth->second));
}

TEST(DiagnoseTruth, EachKindOfWorkIsTold) {
  ASSERT_EQ(stretches().size(), 31U + 13U);
  for (const auto &[name, samples] : stretches()) {
    SCOPED_TRACE(name);
    expect_truth(name, diagnose(samples));
  }
}

TEST(DiagnoseTruth, AlsoInShortWindows) {
  for (const auto &[name, samples] : stretches()) {
    for (const auto length : {10s, 15s, 20s}) {
      for (const auto &window : windows_of(samples, length)) {
        SCOPED_TRACE(fmt::format("{}, {} s from {:.1f} s", name, length.count(),
                                 Seconds(window.front()->time - samples.front()->time).count()));
        const auto diagnosis = diagnose(window);
        // A window that has no whole stall in it cannot show one.
        if (name == "validation_on_cpu_every_6s" && problems(diagnosis).empty()) continue;
        expect_truth(name, diagnosis);
      }
    }
  }
}

TEST(DiagnoseTruth, AlsoWithSamplesMissingAndOneASecond) {
  for (const auto &[name, samples] : stretches()) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(fmt::format("{}, a fifth missing, seed {}", name, seed));
      expect_truth(name, diagnose(without_some(samples, seed)));
      expect_truth(name, diagnose(at_one_hertz(without_some(samples, seed))));
    }
    SCOPED_TRACE(name + ", one a second");
    expect_truth(name, diagnose(at_one_hertz(samples)));
  }
}

TEST(DiagnoseTruth, AGpuThatDoesNotTellGetsNoOtherProblem) {
  for (const auto &[name, samples] : stretches()) {
    for (const auto &seen : {samples, at_one_hertz(samples)}) {
      SCOPED_TRACE(name);
      const auto diagnosis = diagnose(without_processors(seen));
      const auto truth = kTruth.find(name);
      // A process that starts may not be seen yet.
      const auto expected = truth == kTruth.end() ? FindingId::idle : truth->second;
      EXPECT_THAT(word(diagnosis.verdict), testing::AnyOf(word(expected), word(FindingId::unknown)));
      for (const auto &problem : problems(diagnosis)) EXPECT_EQ(problem, word(expected));
    }
  }
}

// Windows that end with the work, or half a length and a whole one before; none reaches back to the job's start-up.
std::vector<Samples> windows_from_the_end(const Samples &samples, std::chrono::seconds length) {
  const auto begin = samples.front()->time + (length < 60s ? 17s : 8s);
  std::vector<Samples> windows;
  for (auto to = samples.back()->time; to - length >= begin; to -= length / 2) {
    windows.push_back(between(samples, to - length, to));
  }
  return windows;
}

// Jobs of bench/workloads.py and bench/framework_training.py that worked for more than a minute each on an H200.
TEST(DiagnoseTruth, AlsoInLongWindows) {
  const auto jobs = job_stretches("long_jobs");
  ASSERT_EQ(jobs.size(), 7U);
  for (const auto &[name, samples] : jobs) {
    for (const auto length : {10s, 30s, 60s}) {
      const auto windows = windows_from_the_end(samples, length);
      ASSERT_THAT(windows, testing::Not(testing::IsEmpty())) << name;
      for (const auto &window : windows) {
        SCOPED_TRACE(fmt::format("{}, {} s from {:.1f} s", name, length.count(),
                                 Seconds(window.front()->time - samples.front()->time).count()));
        for (const auto &seen :
             {window, without_some(window, 1), at_one_hertz(window), at_one_hertz(without_some(window, 2))}) {
          SCOPED_TRACE(fmt::format("{} of {} samples", seen.size(), window.size()));
          const auto diagnosis = diagnose(seen);
          // Ten samples of a fifth of a second each may miss most of what comes in bursts.
          if (seen.size() < 12 && diagnosis.verdict == FindingId::unknown) continue;
          expect_truth(name, diagnosis);
        }
        const auto seen = diagnose(without_processors(window));
        EXPECT_THAT(word(seen.verdict), testing::AnyOf(word(kTruth.at(name)), word(FindingId::unknown)));
      }
    }
  }
}

// Those that have begun since the one with the number `last`.
void note_problems(const Watch &watch, std::uint64_t &last, std::vector<std::string> &begun) {
  for (const auto &lasting : watch.current()) {
    if (lasting.number <= last) continue;
    last = lasting.number;
    if (lasting.finding.weight == Weight::problem) begun.emplace_back(word(lasting.finding.id));
  }
}

// As the agent sees the thirteen jobs go by, start-up, warm-up and pauses included.
TEST(DiagnoseTruth, FindingsBeginAndEndOnceEachAndNoneIsWrong) {
  auto replay = record::Replay::open(data("jobs.gpr"));
  Watch watch;
  std::vector<std::string> begun, ended;
  std::uint64_t last = 0;
  for (const auto &sample : samples_of(*replay)) {
    watch.add(sample);
    note_problems(watch, last, begun);
    for (const auto &lasting : watch.take_ended()) {
      EXPECT_TRUE(lasting.over);
      EXPECT_LT(lasting.finding.since, lasting.finding.until);
      if (lasting.finding.weight == Weight::problem) ended.emplace_back(word(lasting.finding.id));
    }
  }
  EXPECT_THAT(begun, testing::ElementsAre("launch-bound", "input-cpu", "input-io", "copy-bound", "wrong-precision",
                                          "memory-leak", "periodic-stalls", "hung", "spinning"));
  EXPECT_EQ(ended, begun);
}

// Jobs of bench/workloads.py from their first line to their last on an H200: libraries are loaded, kernels compiled and
// files written before there is anything to judge, and that is nobody's fault.
TEST(DiagnoseTruth, WholeJobsWithTheirStartUp) {
  const std::map<std::string, FindingId> truth{
      {"resnet_good_loader", FindingId::healthy},
      {"resnet_jpeg_2_workers", FindingId::input_cpu},
      {"resnet_batch_2", FindingId::launch_bound},
      {"gpt_generate_one", FindingId::launch_bound},
      {"decode_in_a_graph", FindingId::memory_bandwidth},
      {"transformer_fp32", FindingId::tensor_unused},
      {"two_trainings", FindingId::healthy},
      {"checkpoint_every_7s", FindingId::periodic_stalls},
      {"jax_training", FindingId::unknown},  // has worked for seven seconds when it ends
      {"cache_never_freed", FindingId::memory_leak},
      {"random_reads", FindingId::input_io},
      {"pageable_copies", FindingId::copy_bound},
      {"requests_now_and_then", FindingId::unknown},
      {"compiled", FindingId::healthy},
      {"too_large_a_step", FindingId::unknown},
  };
  const auto jobs = job_stretches("more_jobs");
  ASSERT_EQ(jobs.size(), truth.size());
  for (const auto &[name, samples] : jobs) {
    for (const auto &seen : {samples, at_one_hertz(samples)}) {
      SCOPED_TRACE(name + (seen.size() == samples.size() ? "" : " at 1 Hz"));
      const auto diagnosis = diagnose(seen);
      EXPECT_EQ(word(diagnosis.verdict), word(truth.at(name)));
      for (const auto &problem : problems(diagnosis)) EXPECT_EQ(problem, word(truth.at(name)));
    }
  }
}

// The same as the agent sees them go by.
TEST(DiagnoseTruth, NoProblemIsMadeUpWhileJobsStartAndEnd) {
  auto replay = record::Replay::open(data("more_jobs.gpr"));
  Watch watch;
  std::vector<std::string> begun;
  std::uint64_t last = 0;
  for (const auto &sample : samples_of(*replay)) {
    watch.add(sample);
    note_problems(watch, last, begun);
  }
  EXPECT_THAT(begun, testing::ElementsAre("input-cpu", "launch-bound", "tensor-unused", "periodic-stalls",
                                          "memory-leak", "input-io", "copy-bound"));
}

struct Limit {
  const char *name;
  double Thresholds::*value;
};

const std::vector<Limit> kLimits{
    {"at_rest_percent", &Thresholds::at_rest_percent},
    {"starved_lost_share", &Thresholds::starved_lost_share},
    {"waiting_lost_share", &Thresholds::waiting_lost_share},
    {"small_fill", &Thresholds::small_fill},
    {"fed_bytes_per_second", &Thresholds::fed_bytes_per_second},
    {"unfed_fill", &Thresholds::unfed_fill},
    {"pageable_bytes_per_second", &Thresholds::pageable_bytes_per_second},
    {"stopped_seconds", &Thresholds::stopped_seconds},
    {"stopped_share", &Thresholds::stopped_share},
    {"young_seconds", &Thresholds::young_seconds},
    {"launch_busy_percent", &Thresholds::launch_busy_percent},
    {"launch_cpu_share", &Thresholds::launch_cpu_share},
    {"filled_busy_percent", &Thresholds::filled_busy_percent},
    {"spin_busy_percent", &Thresholds::spin_busy_percent},
    {"spin_sm_percent", &Thresholds::spin_sm_percent},
    {"spin_bytes_per_second", &Thresholds::spin_bytes_per_second},
    {"copy_bytes_per_second", &Thresholds::copy_bytes_per_second},
    {"copy_share", &Thresholds::copy_share},
    {"copy_sm_percent", &Thresholds::copy_sm_percent},
    {"stall_low", &Thresholds::stall_low},
    {"stall_high", &Thresholds::stall_high},
    {"stall_level_percent", &Thresholds::stall_level_percent},
    {"stall_seconds", &Thresholds::stall_seconds},
    {"stall_share", &Thresholds::stall_share},
    {"stall_most_share", &Thresholds::stall_most_share},
    {"stall_problem_share", &Thresholds::stall_problem_share},
    {"cpu_full_share", &Thresholds::cpu_full_share},
    {"read_bytes_per_second", &Thresholds::read_bytes_per_second},
    {"working_sm_percent", &Thresholds::working_sm_percent},
    {"tensor_percent", &Thresholds::tensor_percent},
    {"pipe_percent", &Thresholds::pipe_percent},
    {"idle_pipe_percent", &Thresholds::idle_pipe_percent},
    {"fp64_percent", &Thresholds::fp64_percent},
    {"dram_percent", &Thresholds::dram_percent},
    {"dram_waiting_percent", &Thresholds::dram_waiting_percent},
    {"leak_fit", &Thresholds::leak_fit},
    {"leak_share", &Thresholds::leak_share},
    {"full_share", &Thresholds::full_share},
    {"held_bytes", &Thresholds::held_bytes},
    {"held_seconds", &Thresholds::held_seconds},
};

// The first stretch that is told differently; empty: none.
std::string first_change(const Thresholds &limits) {
  for (const auto &[name, samples] : stretches()) {
    const auto truth = kTruth.find(name);
    if (truth == kTruth.end() || samples.size() < 100) continue;
    if (diagnose(samples, limits).verdict != truth->second) return name;
  }
  return {};
}

TEST(DiagnoseTruth, NoVerdictHangsOnAThresholdByAHair) {
  const bool tells = std::getenv("GPULSE_MARGINS") != nullptr;
  for (const auto &limit : kLimits) {
    for (const bool up : {false, true}) {
      // A tenth at least in either direction; the table goes as far as four times.
      for (const double factor : tells ? std::vector{1.1, 1.25, 1.5, 2.0, 3.0, 4.0} : std::vector{1.1}) {
        Thresholds moved;
        moved.*limit.value *= up ? factor : 1 / factor;
        const auto changed = first_change(moved);
        if (factor < 1.2) {
          EXPECT_EQ(changed, "") << limit.name << (up ? " raised" : " lowered") << " by a tenth";
        }
        if (!changed.empty() || factor == 4.0) {
          if (tells) {
            fmt::print("{:24} {:>10.6g} {} {:<5} {}\n", limit.name, Thresholds{}.*limit.value, up ? "x" : "/", factor,
                       changed.empty() ? "nothing changes" : changed);
          }
          break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gpulse::insight
