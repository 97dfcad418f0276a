// SPDX-License-Identifier: Apache-2.0
#include "insight/out_of_memory.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>

namespace gpulse::insight {
namespace {

constexpr double kTotal = 100e9;
const JobEnd kFailed{.code = 1};

// A job that was on a GPU for so many seconds and held as much of its memory as the function says, others a fixed part.
JobGpu gpu_with(int seconds, const std::function<double(int)> &share, double others = 0) {
  JobGpu gpu;
  gpu.total_memory_bytes = kTotal;
  gpu.first_seconds = 1;
  gpu.last_seconds = seconds;
  gpu.shared = others > 0;
  for (int i = 0; i < seconds; ++i) {
    gpu.memory.add(i, i + 1, share(i) * kTotal);
    gpu.device_memory.add(i, i + 1, (share(i) + others) * kTotal);
  }
  return gpu;
}

TEST(OutOfMemory, TellsGrowthFromStepsThatAreTooLarge) {
  const auto grows = [](int i) { return 0.2 + 0.77 * i / 200; };
  EXPECT_EQ(out_of_memory_cause(kFailed, gpu_with(200, grows)), OutOfMemoryCause::growth);
  const auto loads_and_dies = [](int i) { return i < 60 ? 0.005 : i < 65 ? 0.5 : 0.97; };
  EXPECT_EQ(out_of_memory_cause(kFailed, gpu_with(67, loads_and_dies)), OutOfMemoryCause::first_step);
  const auto validates = [](int i) { return i < 297 ? 0.6 : 0.98; };
  EXPECT_EQ(out_of_memory_cause(kFailed, gpu_with(300, validates)), OutOfMemoryCause::unknown);
  const auto small = [](int) { return 0.3; };
  EXPECT_EQ(out_of_memory_cause(kFailed, gpu_with(100, small, 0.65)), OutOfMemoryCause::other_process);
}

TEST(OutOfMemory, IsNotSaidOfAJobThatEndedOtherwise) {
  const auto full = [](int i) { return i < 50 ? 0.5 : 0.98; };
  EXPECT_FALSE(out_of_memory_cause({.code = 0}, gpu_with(100, full)));
  // Somebody ended it.
  for (const int signal : {SIGINT, SIGTERM, SIGKILL, SIGHUP}) {
    EXPECT_FALSE(out_of_memory_cause({.code = 128 + signal, .signal = signal}, gpu_with(100, full)));
  }
  EXPECT_TRUE(out_of_memory_cause({.code = 128 + SIGABRT, .signal = SIGABRT}, gpu_with(100, full)));
  const auto half = [](int) { return 0.5; };
  EXPECT_FALSE(out_of_memory_cause(kFailed, gpu_with(100, half)));
  // Full for a while, but not when it ended.
  const auto fell = [](int i) { return i < 50 ? 0.98 : 0.4; };
  EXPECT_FALSE(out_of_memory_cause(kFailed, gpu_with(100, fell)));
}

TEST(OutOfMemory, IsNotToldByAFrameworkThatTakesAllAtOnce) {
  auto gpu = gpu_with(100, [](int) { return 0.97; });
  for (const auto *name : {"TensorFlow", "JAX", "vLLM"}) {
    gpu.framework = name;
    EXPECT_FALSE(out_of_memory_cause(kFailed, gpu)) << name;
  }
  gpu.framework = "PyTorch";
  EXPECT_TRUE(out_of_memory_cause(kFailed, gpu));
}

TEST(OutOfMemory, IsAFindingWithItsNumbers) {
  JobReport report;
  report.how = kFailed;
  report.gpus.push_back(gpu_with(100, [](int i) { return i < 97 ? 0.1 : 0.25; }, 0.7));
  report.gpus.front().id.index = 2;
  const auto finding = out_of_memory(report);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, FindingId::out_of_memory);
  EXPECT_EQ(finding->weight, Weight::problem);
  EXPECT_EQ(finding->devices, std::vector{DeviceId{2}});
  EXPECT_NE(finding->text.find("others held 65.2 GiB of 93.1 GiB"), std::string::npos) << finding->text;
  EXPECT_FALSE(finding->advice.empty());
  report.how = {};
  EXPECT_FALSE(out_of_memory(report));
}

}  // namespace
}  // namespace gpulse::insight
