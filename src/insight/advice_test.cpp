// SPDX-License-Identifier: Apache-2.0
#include "insight/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <set>

#include "insight/catalogue.hpp"
#include "model/xid.hpp"

namespace gpulse::insight {
namespace {

using enum FindingId;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<std::string> kFrameworks{"", "PyTorch", "JAX", "TensorFlow", "vLLM", "CUDA"};

std::string first(FindingId id, const AdviceContext &context) {
  const auto lines = advice(id, context);
  return lines.empty() ? "" : lines.front();
}

// Names that have a digit in them and facts that hold for every job; what is left are numbers for this job.
std::string without_names(const std::string &line) {
  static const std::regex kNames(
      R"((TF|tf|bf|fp|float|tensorfloat|uint|x)(8|16|32|64)|X64=1|TIMEOUT=1|64-bit|\.v2|float_32|GPU:0|rank 0|multiples of 8)");
  return std::regex_replace(line, kNames, "");
}

AdviceContext loaders(double processes, double busy, double idle_cores, std::optional<double> lost) {
  return {.framework = "PyTorch",
          .cores = 16,
          .idle_cores = idle_cores,
          .tree_processes = processes,
          .busy_processes = busy,
          .lost_share = lost};
}

TEST(Advice, EveryFindingWithSomethingToDoSaysWhatInAFewLines) {
  for (const auto &kind : finding_kinds()) {
    for (const auto &framework : kFrameworks) {
      SCOPED_TRACE(std::string(kind.word) + " " + framework);
      const auto lines = advice(kind.id, {.framework = framework});
      if (kind.id == healthy || kind.id == idle) {
        EXPECT_THAT(lines, IsEmpty());
        continue;
      }
      ASSERT_GE(lines.size(), 2U);
      EXPECT_LE(lines.size(), 4U);
      EXPECT_EQ(lines.back(), std::string(kind.helped) + ".");
      EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), lines.size()) << "said twice";
      for (const auto &line : lines) {
        EXPECT_TRUE(line.ends_with('.')) << line;
        EXPECT_THAT(line, Not(HasSubstr("\n")));
        EXPECT_LE(line.size(), 130U) << line;
      }
    }
  }
}

TEST(Advice, NamesNoNumberThatRestsOnNothing) {
  for (const auto &kind : finding_kinds()) {
    for (const auto &framework : kFrameworks) {
      for (const auto &line : advice(kind.id, {.framework = framework})) {
        if (line.starts_with(kind.helped)) continue;
        EXPECT_FALSE(std::regex_search(without_names(line), std::regex("[0-9]"))) << kind.word << ": " << line;
      }
    }
  }
}

TEST(Advice, NumbersThatAreNoneCountAsUnknown) {
  for (const double bad : {kNan, kInfinity, -1.0}) {
    const AdviceContext context{.framework = "PyTorch",
                                .cores = bad,
                                .idle_cores = bad,
                                .tree_processes = bad,
                                .busy_processes = bad,
                                .lost_share = bad,
                                .batch_factor = bad,
                                .stall_seconds = bad};
    for (const auto &kind : finding_kinds()) {
      EXPECT_EQ(advice(kind.id, context), advice(kind.id, {.framework = "PyTorch"})) << kind.word << " " << bad;
    }
  }
}

TEST(Advice, AsManyLoadersAsWouldKeepUp) {
  // Two busy loaders feed the GPU for 35 % of the time: 2 / 0.35 = 5.7.
  EXPECT_EQ(first(input_cpu, loaders(3, 2, 14, 0.65)), "Try DataLoader(num_workers=6): 14 cores are idle.");
  // 4 / 0.5 = 8.
  EXPECT_EQ(first(input_cpu, loaders(5, 4, 12, 0.5)), "Try DataLoader(num_workers=8): 12 cores are idle.");
  // 6 / 0.25 = 24, but 6 run and 10 cores are idle.
  EXPECT_EQ(first(input_cpu, loaders(7, 6, 10, 0.75)), "Try DataLoader(num_workers=16): 10 cores are idle.");
  // 2 / 0.02 = 100: four times as many is a step that can be judged.
  EXPECT_EQ(first(input_cpu, loaders(3, 2, 14, 0.98)), "Try DataLoader(num_workers=8): 14 cores are idle.");
  // 8 / 0.95 = 8.4: one more at least.
  EXPECT_EQ(first(input_cpu, loaders(9, 8, 8, 0.05)), "Try DataLoader(num_workers=9): 8 cores are idle.");
  EXPECT_EQ(first(input_cpu, loaders(3, 2, 14, std::nullopt)), "Try DataLoader(num_workers=4): 14 cores are idle.")
      << "twice as many, where nobody knows what is lost";
}

TEST(Advice, AJobWithoutLoadersStartsWithSome) {
  EXPECT_EQ(first(input_cpu, loaders(1, 1, 15, 0.65)),
            "Load in processes of their own, to begin with DataLoader(num_workers=8): 15 cores are idle.");
  EXPECT_EQ(first(input_cpu, loaders(1, 1, 3.4, 0.65)),
            "Load in processes of their own, to begin with DataLoader(num_workers=3): 3 cores are idle.");
}

TEST(Advice, NoMoreLoadersWhereNoCoreIsIdle) {
  const auto lines = advice(input_cpu, loaders(17, 16, 0.4, 0.65));
  EXPECT_THAT(lines.front(), StartsWith("No core is idle"));
  EXPECT_THAT(lines, Each(Not(HasSubstr("num_workers"))));
  EXPECT_THAT(lines, Contains(HasSubstr("Kornia")));
}

TEST(Advice, InputInTheFrameworkAtHand) {
  auto context = loaders(3, 2, 14, 0.65);
  context.framework = "JAX";
  EXPECT_EQ(first(input_cpu, context), "Try 6 loader processes (Grain: worker_count=6): 14 cores are idle.");
  context.framework = "TensorFlow";
  EXPECT_EQ(first(input_cpu, context), "Try dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE): 14 cores are idle.");
  context.framework = "";
  EXPECT_EQ(first(input_cpu, context),
            "Try 6 loader processes (PyTorch: DataLoader(num_workers=6)): 14 cores are idle.");
  context.framework = "vLLM";
  EXPECT_THAT(advice(input_cpu, context), Each(Not(HasSubstr("num_workers"))));
}

TEST(Advice, LoadersThatWaitForADiskNeedNoCores) {
  // Four loaders, 60 % lost: 4 / 0.4 = 10, though no core is idle.
  EXPECT_THAT(advice(input_io, loaders(5, 0, 0, 0.6)), Contains(HasSubstr("DataLoader(num_workers=10)")));
  EXPECT_THAT(advice(input_io, loaders(1, 0, 15, 0.6)), Contains(HasSubstr("DataLoader(num_workers=8)")));
  EXPECT_THAT(first(input_io, loaders(5, 0, 15, 0.6)), HasSubstr("local disk"));
  EXPECT_THAT(advice(input_io, {.framework = "TensorFlow"}), Contains(HasSubstr("TFRecord")));
  // 40 of them on 16 cores: the number of loaders is not what is missing.
  EXPECT_THAT(advice(input_io, loaders(41, 0, 15, 0.6)), Each(Not(HasSubstr("num_workers="))));
}

TEST(Advice, TheLastLineTellsHowToSeeThatItHelped) {
  EXPECT_EQ(advice(input_cpu, loaders(3, 2, 14, 0.654)).back(),
            "Run it again under `gpulse run -- CMD`: the starved share should fall (65 % of GPU time is lost now).");
  EXPECT_EQ(advice(input_cpu, loaders(3, 2, 14, 0.004)).back(),
            "Run it again under `gpulse run -- CMD`: the starved share should fall.");
}

TEST(Advice, BatchFactorsAreRoundedDown) {
  const auto raise = [](double factor) { return first(memory_headroom, {.batch_factor = factor}); };
  EXPECT_EQ(raise(2.79), "Raise the batch size up to 2.7 times, and the learning rate with it.");
  EXPECT_EQ(raise(2.0), "Raise the batch size up to 2.0 times, and the learning rate with it.");
  EXPECT_EQ(raise(11.9), "Raise the batch size up to 11 times, and the learning rate with it.");
  EXPECT_EQ(raise(1.0), "Raise the batch size step by step, and the learning rate with it.");
  EXPECT_THAT(advice(launch_bound, {.framework = "PyTorch", .batch_factor = 6.4}),
              Contains(HasSubstr("room for 6 times as much")));
}

TEST(Advice, SmallKernelsInTheFrameworkAtHand) {
  EXPECT_THAT(first(launch_bound, {.framework = "PyTorch"}),
              HasSubstr("torch.compile(model, mode=\"reduce-overhead\")"));
  EXPECT_THAT(first(launch_bound, {.framework = "JAX"}), HasSubstr("jax.jit"));
  EXPECT_THAT(first(launch_bound, {.framework = "TensorFlow"}), HasSubstr("tf.function"));
  EXPECT_THAT(first(launch_bound, {.framework = "vLLM"}), HasSubstr("--enforce-eager"));
  EXPECT_THAT(first(launch_bound, {}), AllOf(HasSubstr("CUDA graph"), HasSubstr("PyTorch")));
}

TEST(Advice, PrecisionInTheFrameworkAtHand) {
  EXPECT_THAT(first(tensor_unused, {.framework = "PyTorch"}),
              HasSubstr("torch.set_float32_matmul_precision(\"high\")"));
  EXPECT_THAT(first(tensor_unused, {.framework = "JAX"}), HasSubstr("jax_default_matmul_precision"));
  EXPECT_THAT(first(tensor_unused, {.framework = "TensorFlow"}), HasSubstr("mixed_precision"));
  EXPECT_THAT(first(tensor_unused, {.framework = "vLLM"}), HasSubstr("--dtype bfloat16"));
  EXPECT_THAT(advice(wrong_precision, {.framework = "PyTorch"}), Contains(HasSubstr("torch.set_default_dtype")));
  EXPECT_THAT(first(wrong_precision, {.framework = "JAX"}), HasSubstr("jax_enable_x64"));
  EXPECT_THAT(first(wrong_precision, {}), HasSubstr("numpy.float32"));
}

TEST(Advice, VllmRunsOnPyTorchAndIsNamedFirst) {
  EXPECT_EQ(advice(copy_bound, {.framework = "PyTorch, vLLM"}), advice(copy_bound, {.framework = "vLLM"}));
}

TEST(Advice, CopiesInTheBackground) {
  EXPECT_THAT(first(copy_bound, {.framework = "PyTorch"}),
              AllOf(HasSubstr("pin_memory=True"), HasSubstr("non_blocking=True")));
  EXPECT_THAT(first(copy_bound, {.framework = "TensorFlow"}), HasSubstr("prefetch_to_device"));
}

TEST(Advice, MemoryThatIsTakenInAdvanceHasASwitch) {
  for (const auto id : {memory_full, memory_held_idle}) {
    EXPECT_THAT(advice(id, {.framework = "JAX"}), Contains(HasSubstr("XLA_PYTHON_CLIENT_PREALLOCATE=false")));
    EXPECT_THAT(advice(id, {.framework = "TensorFlow"}), Contains(HasSubstr("TF_FORCE_GPU_ALLOW_GROWTH=true")));
    EXPECT_THAT(advice(id, {.framework = "vLLM"}), Contains(HasSubstr("--gpu-memory-utilization")));
  }
  EXPECT_THAT(advice(memory_held_idle, {.framework = "PyTorch"}), Contains(HasSubstr("torch.cuda.empty_cache()")));
}

TEST(Advice, OutOfMemoryByItsCause) {
  const auto lines = [](OutOfMemoryCause cause, std::string framework = "PyTorch") {
    return advice(out_of_memory, {.framework = std::move(framework), .cause = cause});
  };
  EXPECT_THAT(lines(OutOfMemoryCause::first_step), Contains(HasSubstr("torch.utils.checkpoint")));
  EXPECT_THAT(lines(OutOfMemoryCause::first_step), Contains(HasSubstr("accumulate the gradients")));
  EXPECT_THAT(lines(OutOfMemoryCause::growth).front(), HasSubstr("loss.item()"));
  EXPECT_THAT(lines(OutOfMemoryCause::other_process).front(), HasSubstr("gpulse pick"));
  EXPECT_THAT(lines(OutOfMemoryCause::other_process, "JAX"),
              Contains(HasSubstr("XLA_PYTHON_CLIENT_PREALLOCATE=false")));
  EXPECT_EQ(lines(OutOfMemoryCause::unknown), lines(OutOfMemoryCause::first_step));
}

TEST(Advice, LeaksOfPyTorch) {
  EXPECT_THAT(advice(memory_leak, {.framework = "PyTorch"}),
              AllOf(Contains(HasSubstr("loss.detach()")), Contains(HasSubstr("expandable_segments:True"))));
}

TEST(Advice, HostMemoryCountsTheProcessesThereAre) {
  EXPECT_THAT(advice(host_memory, loaders(17, 3, 4, 0.1)), Contains(HasSubstr("(the job has 17 processes)")));
  EXPECT_THAT(advice(host_memory, {.framework = "PyTorch"}), Each(Not(HasSubstr("the job has"))));
}

TEST(Advice, StallsByWhatTheJobDoesMeanwhile) {
  EXPECT_EQ(
      first(periodic_stalls, {.framework = "PyTorch", .stall_seconds = 4.2, .writes = true}),
      "Write checkpoints in the background, with torch.distributed.checkpoint.async_save (each stall takes 4.2 s).");
  EXPECT_THAT(first(periodic_stalls, {.framework = "JAX", .writes = true}), HasSubstr("AsyncCheckpointer"));
  EXPECT_THAT(first(periodic_stalls, {.framework = "TensorFlow", .writes = true}), HasSubstr("enable_async=True"));
  EXPECT_THAT(first(periodic_stalls, {.framework = "PyTorch", .stall_seconds = 31, .reads = true}),
              AllOf(HasSubstr("persistent_workers=True"), HasSubstr("(each stall takes 31 s)")));
  EXPECT_THAT(advice(periodic_stalls, {.framework = "PyTorch", .stall_seconds = 180}),
              AllOf(Contains(HasSubstr("validation")), Contains(HasSubstr("(each stall takes 3 min)"))));
}

TEST(Advice, NamesTheProcessToLookAt) {
  EXPECT_EQ(first(hung, {.pid = 560}), "See where it waits: py-spy dump --pid 560.");
  EXPECT_EQ(first(spinning, {}), "See where it waits: py-spy dump --pid PID.");
  EXPECT_THAT(advice(hung, {.framework = "PyTorch"}), Contains(HasSubstr("TORCH_NCCL_DUMP_ON_TIMEOUT=1")));
  EXPECT_THAT(advice(spinning, {.framework = "JAX"}),
              AllOf(Contains(HasSubstr("NCCL_DEBUG=INFO")), Each(Not(HasSubstr("TORCH_")))));
  EXPECT_THAT(first(memory_held_idle, {.pid = 560}), HasSubstr("process 560"));
}

TEST(Advice, HealthByTheNumberOrTheReading) {
  const auto *lost = find_xid(79);
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(first(health, {.code = 79}), "XID 79: " + std::string(lost->remedy) + ".");
  EXPECT_THAT(first(health, {.code = 9999}), AllOf(HasSubstr("XID 9999"), HasSubstr("dmesg")));
  EXPECT_THAT(first(health, {.metric = "remapped_rows_failure"}), HasSubstr("replaced"));
  EXPECT_THAT(first(health, {.metric = "remapped_rows_pending"}), HasSubstr("gpulse set reset"));
  EXPECT_THAT(first(health, {.metric = "ecc_uncorrected_volatile_total"}), HasSubstr("reset the GPU"));
  EXPECT_THAT(first(health, {}), HasSubstr("out of work"));
}

TEST(Advice, WhatHoldsTheHardwareBack) {
  EXPECT_THAT(first(throttled_power, {}), HasSubstr("gpulse set power-limit default"));
  EXPECT_THAT(first(throttled_thermal, {}), HasSubstr("dust"));
  EXPECT_THAT(advice(throttled_hardware, {}), Contains(HasSubstr("nvidia-smi -q -d PERFORMANCE")));
  EXPECT_THAT(advice(link_degraded, {}), AllOf(Contains(HasSubstr("Reseat")), Contains(HasSubstr("BIOS"))));
}

}  // namespace
}  // namespace gpulse::insight
