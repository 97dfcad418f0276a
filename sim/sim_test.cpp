// SPDX-License-Identifier: Apache-2.0
// The simulator through its C interface, as any NVML client loads it. Expected values are written by hand.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "test_paths.hpp"
#include "testing/sim_library.hpp"

namespace gpulse::sim {
namespace {

TEST_F(Sim, AnswersAnH200) {
  start(kH200 + kTwoProcesses);
  std::array<char, 96> name{};
  EXPECT_EQ(nvml("nvmlDeviceGetName", gpu(), name.data(), 96U), Return::success);
  EXPECT_STREQ(name.data(), "NVIDIA H200");
  EXPECT_EQ(nvml("nvmlDeviceGetName", gpu(), name.data(), 4U), Return::insufficient_size);
  std::uint32_t milliwatts = 0;
  EXPECT_EQ(power(gpu(), milliwatts), Return::success);
  EXPECT_EQ(milliwatts, 690660U);
  MemoryV2 memory{.version = 0x02000028, .total = 0, .reserved = 0, .free = 0, .used = 0};
  EXPECT_EQ(nvml("nvmlDeviceGetMemoryInfo_v2", gpu(), &memory), Return::success);
  EXPECT_EQ(memory.total, 143771 * kMib);
  EXPECT_EQ(memory.used, 1139 * kMib);
  memory.version = 2;
  EXPECT_EQ(nvml("nvmlDeviceGetMemoryInfo_v2", gpu(), &memory), Return::argument_version_mismatch);
  Memory old{};
  EXPECT_EQ(nvml("nvmlDeviceGetMemoryInfo", gpu(), &old), Return::success);
  EXPECT_EQ(old.used, memory.used + memory.reserved);
  std::uint32_t fan = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetFanSpeed_v2", gpu(), 0U, &fan), Return::not_supported);
  EXPECT_EQ(nvml("nvmlDeviceGetPowerUsage", gpu(), static_cast<std::uint32_t *>(nullptr)), Return::invalid_argument);
}

TEST_F(Sim, CountsItsReferences) {
  start(kH200);
  ASSERT_EQ(nvml("nvmlInit_v2"), Return::success);
  EXPECT_EQ(nvml("nvmlShutdown"), Return::success);
  std::uint32_t count = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetCount_v2", &count), Return::success);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(nvml("nvmlShutdown"), Return::success);
  EXPECT_EQ(nvml("nvmlDeviceGetCount_v2", &count), Return::uninitialized);
  EXPECT_EQ(library().call<unsigned long>("gpulse_sim_calls", "nvmlDeviceGetCount_v2"), 2U);
}

TEST_F(Sim, FollowsStepsAndEnergy) {
  start(kH200 +
        "power_w = { steps = [[0, 100], [10, 300]], period = 20 }\nenergy_mj = 1000\n"
        "temperature = { steps = [[0, 40], [10, 60]], linear = true }\n");
  const auto reading = [](double time) {
    at(time);
    std::uint32_t milliwatts = 0;
    EXPECT_EQ(power(gpu(), milliwatts), Return::success);
    return milliwatts;
  };
  EXPECT_EQ(reading(9.9), 100000U);
  EXPECT_EQ(reading(10), 300000U);
  EXPECT_EQ(reading(25), 100000U);
  std::uint64_t millijoules = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetTotalEnergyConsumption", gpu(), &millijoules), Return::success);
  EXPECT_EQ(millijoules, 1000U + 4500000U);  // 10 s of 100 W, 10 s of 300 W, 5 s of 100 W
  at(5);
  TemperatureReading temperature{.version = 0x0100000C, .sensor = 0, .celsius = 0};
  EXPECT_EQ(nvml("nvmlDeviceGetTemperatureV", gpu(), &temperature), Return::success);
  EXPECT_EQ(temperature.celsius, 50);
}

TEST_F(Sim, PlaysATrace) {
  const std::string path = testing::TempDir() + "gpulse_sim_trace.csv";
  std::ofstream(path) << "t_s,phase,util_gpu_pct,event_reasons_hex,smutil,proc_mem_mib,n_procs\n"
                         "0.1,idle,2,0,1.5,0,0\n0.2,work,97,1a,88.5,512,1\n";
  start(kH200 + "trace = \"" + path + "\"\n[[process]]\npid = 31\nmemory_mib = { trace = \"" + path +
        "\", column = \"proc_mem_mib\", scale = 2 }\npresent = { trace = \"" + path + "\", column = \"n_procs\" }\n");
  Utilization utilization{};
  EXPECT_EQ(nvml("nvmlDeviceGetUtilizationRates", gpu(), &utilization), Return::success);
  EXPECT_EQ(utilization.gpu, 2U);
  EXPECT_EQ(utilization.memory, 23U);
  std::uint32_t count = 1;
  ProcessInfoV2 row{};
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", gpu(), &count, static_cast<void *>(&row)), Return::success);
  EXPECT_EQ(count, 0U);
  at(0.35);  // the second time round
  EXPECT_EQ(nvml("nvmlDeviceGetUtilizationRates", gpu(), &utilization), Return::success);
  EXPECT_EQ(utilization.gpu, 97U);
  std::uint64_t reasons = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetCurrentClocksEventReasons", gpu(), &reasons), Return::success);
  EXPECT_EQ(reasons, 0x1AU);
  count = 1;
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", gpu(), &count, static_cast<void *>(&row)), Return::success);
  EXPECT_EQ(row.used_gpu_memory, 1024 * kMib);
}

TEST_F(Sim, CountsNvlinkTraffic) {
  start("[[device]]\nprofile = \"h100\"\nnvlink_tx_kibs = 1800\nnvlink_down = [2]\n");
  at(10);
  std::array<FieldValue, 3> fields{};
  constexpr std::array kScopes{kAllLinks, 3U, 18U};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].field = field::kNvlinkDataTx;
    fields[i].scope = kScopes[i];
  }
  EXPECT_EQ(nvml("nvmlDeviceGetFieldValues", gpu(), 3, fields.data()), Return::success);
  EXPECT_EQ(fields[0].value.u64, 18000U);
  EXPECT_EQ(fields[1].value.u64, 1000U);
  EXPECT_EQ(fields[2].result, Return::not_supported);
  std::uint32_t state = 9;
  EXPECT_EQ(nvml("nvmlDeviceGetNvLinkState", gpu(), 2U, &state), Return::success);
  EXPECT_EQ(state, 0U);
  EXPECT_EQ(nvml("nvmlDeviceGetNvLinkState", gpu(), 17U, &state), Return::success);
  EXPECT_EQ(state, 1U);
  EXPECT_EQ(nvml("nvmlDeviceGetNvLinkState", gpu(), 18U, &state), Return::invalid_argument);
}

TEST_F(Sim, TellsTheSpeedOfEachLink) {
  start("[[device]]\nprofile = \"h100\"\nnvlink_links = 8\n");
  std::array<FieldValue, 4> fields{};
  constexpr std::array kFields{84U, 89U, 133U, 134U};  // links 0, 5, 7 and 8
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].field = kFields[i];
  EXPECT_EQ(nvml("nvmlDeviceGetFieldValues", gpu(), 4, fields.data()), Return::success);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(fields[i].value.u32, 26562U) << kFields[i];
  EXPECT_EQ(fields[3].result, Return::not_supported);
}

TEST_F(Sim, AllFormsOfPowerFollowTheOneThatIsGiven) {
  start("[[device]]\nprofile = \"h100\"\npower_w = { steps = [[0, 100], [5, 300]] }\n");
  at(6);
  std::array<FieldValue, 2> fields{};
  fields[0].field = 185;
  fields[1].field = 186;
  EXPECT_EQ(nvml("nvmlDeviceGetFieldValues", gpu(), 2, fields.data()), Return::success);
  EXPECT_EQ(fields[0].value.u32, 300000U);
  EXPECT_EQ(fields[1].value.u32, 300000U);
}

// As captured of an H100 with driver 590, and of an A100 with 535.
TEST_F(Sim, ASplitDeviceTellsLess) {
  start("[[device]]\nprofile = \"h100-mig\"\n");
  std::array<std::uint32_t, 4> rows{};
  EXPECT_EQ(nvml("nvmlDeviceGetRemappedRows", gpu(), &rows[0], &rows[1], &rows[2], &rows[3]), Return::not_supported);
  std::uint32_t state = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetNvLinkState", gpu(), 0U, &state), Return::not_supported);
  constexpr std::array kBar1{24739.0, 12369.0, 6184.0};
  for (std::uint32_t i = 0; i < kBar1.size(); ++i) {
    Handle instance = nullptr;
    ASSERT_EQ(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu(), i, &instance), Return::success);
    Memory bar1{};
    EXPECT_EQ(nvml("nvmlDeviceGetBAR1MemoryInfo", instance, &bar1), Return::success);
    EXPECT_EQ(static_cast<double>(bar1.total), kBar1[i] * kMib);
    std::uint64_t errors = 9;
    EXPECT_EQ(nvml("nvmlDeviceGetMemoryErrorCounter", instance, 1U, 0U, 7U, &errors), Return::success);
    EXPECT_EQ(errors, 0U);
    EXPECT_EQ(nvml("nvmlDeviceGetMemoryErrorCounter", instance, 1U, 0U, 2U, &errors), Return::not_supported);
  }
}

TEST_F(Sim, LoadsEveryShippedScenario) {
  for (const auto &entry : std::filesystem::directory_iterator(kBuildDir + "/sim/scenarios")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_EQ(library().call<int>("gpulse_sim_load", text.str().c_str()), 0) << entry.path() << error();
  }
}

TEST_F(Sim, WritesProcessRowsOfEverySize) {
  start("[driver]\nprocess_v3_row_bytes = 32\n" + kH200 + kTwoProcesses);
  at(6);
  std::uint32_t count = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", gpu(), &count, static_cast<void *>(nullptr)),
            Return::insufficient_size);
  EXPECT_EQ(count, 2U);
  std::array<ProcessInfoV1, 4> narrow{};
  count = 4;
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses", gpu(), &count, static_cast<void *>(narrow.data())),
            Return::success);
  EXPECT_EQ(narrow[1].pid, 12U);
  EXPECT_EQ(narrow[1].used_gpu_memory, 200 * kMib);
  std::array<ProcessInfoV2, 4> rows{};
  count = 4;
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", gpu(), &count, static_cast<void *>(rows.data())),
            Return::success);
  EXPECT_EQ(rows[1].pid, 12U);
  EXPECT_EQ(rows[1].gpu_instance, kNoInstance);
  std::array<ProcessInfoV3Wide, 4> wide{};
  count = 4;
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v3", gpu(), &count, static_cast<void *>(wide.data())),
            Return::success);
  EXPECT_EQ(wide[1].pid, 12U);
  EXPECT_EQ(wide[1].cc_protected_memory, 3 * kMib);
  count = 1;
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", gpu(), &count, static_cast<void *>(rows.data())),
            Return::insufficient_size);
  at(9);
  count = 4;
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", gpu(), &count, static_cast<void *>(rows.data())),
            Return::success);
  EXPECT_EQ(count, 1U);
}

TEST_F(Sim, GivesProcessUseOnce) {
  start(kH200 + kTwoProcesses);
  at(1);
  std::array<ProcessUtilizationSample, 4> samples{};
  std::uint32_t count = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetProcessUtilization", gpu(), static_cast<ProcessUtilizationSample *>(nullptr), &count,
                 std::uint64_t{0}),
            Return::insufficient_size);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(nvml("nvmlDeviceGetProcessUtilization", gpu(), samples.data(), &count, std::uint64_t{0}), Return::success);
  EXPECT_EQ(samples[0].pid, 11U);
  EXPECT_EQ(samples[0].sm, 7U);
  EXPECT_EQ(nvml("nvmlDeviceGetProcessUtilization", gpu(), samples.data(), &count, samples[0].time_us),
            Return::not_found);
  at(2);
  EXPECT_EQ(nvml("nvmlDeviceGetProcessUtilization", gpu(), samples.data(), &count, samples[0].time_us),
            Return::success);
}

TEST_F(Sim, GivesPowerSamples) {
  start(kH200);
  at(10);
  ValueType type{};
  std::uint32_t count = 0;
  EXPECT_EQ(nvml("nvmlDeviceGetSamples", gpu(), 0U, std::uint64_t{0}, &type, &count, static_cast<Sample *>(nullptr)),
            Return::success);
  ASSERT_EQ(count, 119U);
  std::vector<Sample> samples(count);
  EXPECT_EQ(nvml("nvmlDeviceGetSamples", gpu(), 0U, std::uint64_t{0}, &type, &count, samples.data()), Return::success);
  EXPECT_EQ(count, 119U);
  EXPECT_EQ(samples[118].value.u32, 690660U);
  EXPECT_EQ(samples[118].time_us - samples[117].time_us, 20000U);
  EXPECT_EQ(nvml("nvmlDeviceGetSamples", gpu(), 0U, samples[118].time_us, &type, &count, samples.data()),
            Return::not_found);
}

TEST_F(Sim, HidesWhatAnOldDriverLacks) {
  start("[driver]\nversion = \"331.62\"\ngeneration = 331\nmissing = [\"nvmlDeviceGetBrand\"]\n" + kH200);
  EXPECT_FALSE(has("nvmlDeviceGetMemoryInfo_v2"));
  EXPECT_FALSE(has("nvmlDeviceGetGraphicsRunningProcesses"));
  EXPECT_FALSE(has("nvmlDeviceGetFieldValues"));
  EXPECT_FALSE(has("nvmlGpmSampleGet"));
  EXPECT_FALSE(has("nvmlDeviceGetBrand"));
  EXPECT_TRUE(has("nvmlDeviceGetMemoryInfo"));
  EXPECT_TRUE(has("nvmlDeviceGetComputeRunningProcesses"));
  start(kH200);
  EXPECT_TRUE(has("nvmlDeviceGetMemoryInfo_v2"));
  EXPECT_TRUE(has("nvmlDeviceGetBrand"));
}

TEST_F(Sim, InjectsFaults) {
  start(
      kH200 +
      "count = 2\n[[fault]]\ncall = \"nvmlDeviceGetPowerUsage\"\ndevice = 1\ncode = 999\nafter_calls = 1\ncount = 2\n");
  std::uint32_t milliwatts = 0;
  EXPECT_EQ(power(gpu(0), milliwatts), Return::success);
  EXPECT_EQ(power(gpu(1), milliwatts), Return::success);
  EXPECT_EQ(power(gpu(1), milliwatts), Return::unknown);
  EXPECT_EQ(power(gpu(1), milliwatts), Return::unknown);
  EXPECT_EQ(power(gpu(1), milliwatts), Return::success);
  fault("nvmlDeviceGetHandleByIndex_v2", 1, 4);
  Handle refused = nullptr;
  EXPECT_EQ(nvml("nvmlDeviceGetHandleByIndex_v2", 1U, &refused), Return::no_permission);
  EXPECT_EQ(nvml("nvmlDeviceGetHandleByIndex_v2", 0U, &refused), Return::success);
  fault("nvmlDeviceGetHandleByIndex_v2", 1, 0);
  fault("nvmlDeviceGetPowerUsage", 0, 4);
  EXPECT_EQ(power(gpu(0), milliwatts), Return::no_permission);
  EXPECT_EQ(power(gpu(1), milliwatts), Return::success);
  fault("nvmlDeviceGetPowerUsage", 0, 0);
  EXPECT_EQ(power(gpu(0), milliwatts), Return::success);
}

TEST_F(Sim, HangsUntilReleased) {
  start(kH200);
  const Handle device = gpu();
  fault("nvmlDeviceGetPowerUsage", -1, -1);
  std::atomic<bool> returned{false};
  std::thread caller([&] {
    std::uint32_t milliwatts = 0;
    EXPECT_EQ(power(device, milliwatts), Return::success);
    returned = true;
  });
  while (library().call<unsigned long>("gpulse_sim_calls", "nvmlDeviceGetPowerUsage") == 0) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(returned);
  library().call<void>("gpulse_sim_release");
  caller.join();
  EXPECT_TRUE(returned);
}

TEST_F(Sim, LosesADeviceAndFindsItAgain) {
  start(kH200 + "lost = [[10, 20]]\n[[device]]\nprofile = \"rtx4090\"\nfrom = 15\n");
  const Handle device = gpu();
  std::uint32_t value = 0;
  EXPECT_EQ(power(device, value), Return::success);
  at(10);
  EXPECT_EQ(power(device, value), Return::gpu_is_lost);
  at(20);
  EXPECT_EQ(power(device, value), Return::success);
  EXPECT_EQ(nvml("nvmlDeviceGetCount_v2", &value), Return::success);
  EXPECT_EQ(value, 1U);
  nvml("nvmlShutdown");
  nvml("nvmlInit_v2");
  EXPECT_EQ(nvml("nvmlDeviceGetCount_v2", &value), Return::success);
  EXPECT_EQ(value, 2U);
}

TEST_F(Sim, GivesFieldValuesOneByOne) {
  start(kH200 + "[device.fields]\n173 = 5\n[[fault]]\ncall = \"nvmlDeviceGetFieldValues\"\nfield = 82\ncode = 999\n");
  std::array<FieldValue, 7> fields{};
  constexpr std::array kIds{186U, 138U, 193U, 82U, 173U, 185U, 319U};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].field = kIds[i];
  }
  fields[5].scope = 2;
  EXPECT_EQ(nvml("nvmlDeviceGetFieldValues", gpu(), 7, fields.data()), Return::success);
  EXPECT_EQ(fields[0].value.u32, 759510U);
  EXPECT_EQ(fields[0].type, ValueType::u32);
  EXPECT_EQ(fields[1].result, Return::not_supported);
  EXPECT_EQ(fields[2].value.i32, -8);
  EXPECT_EQ(fields[3].result, Return::unknown);
  EXPECT_EQ(fields[4].value.u64, 5U);
  EXPECT_EQ(fields[5].value.u32, 72150U);
  EXPECT_EQ(fields[6].result, Return::not_supported);
}

TEST_F(Sim, NamesAMistake) {
  EXPECT_EQ(library().call<int>("gpulse_sim_load", "[[device]]\nprofile = \"h200\"\ngpu_utill = 3\n"), 999);
  testing::internal::CaptureStderr();
  EXPECT_EQ(nvml("nvmlInit_v2"), Return::unknown);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gpulse-sim: scenario text:3: unknown key \"gpu_utill\"\n");
  EXPECT_EQ(error(), "gpulse-sim: scenario text:3: unknown key \"gpu_utill\"");
}

TEST_F(Sim, RefusesToStart) {
  ASSERT_EQ(library().call<int>("gpulse_sim_load", "[driver]\ninit = 9\n"), 0);
  EXPECT_EQ(nvml("nvmlInit_v2"), Return::driver_not_loaded);
  ASSERT_EQ(library().call<int>("gpulse_sim_load", "[driver]\nkernel_version = \"1.2\"\n"), 0);
  EXPECT_EQ(nvml("nvmlInit_v2"), Return::lib_rm_version_mismatch);
  EXPECT_STREQ(library().call<const char *>("nvmlErrorString", 18U), "Driver/library version mismatch");
}

TEST_F(Sim, ObeysItsSetters) {
  start("[driver]\nsetters = \"anyone\"\n" + kH200);
  std::uint32_t value = 0;
  EXPECT_EQ(nvml("nvmlDeviceSetPowerManagementLimit", gpu(), 500000U), Return::success);
  EXPECT_EQ(nvml("nvmlDeviceGetEnforcedPowerLimit", gpu(), &value), Return::success);
  EXPECT_EQ(value, 500000U);
  EXPECT_EQ(nvml("nvmlDeviceSetPowerManagementLimit", gpu(), 900000U), Return::invalid_argument);
  EXPECT_EQ(nvml("nvmlDeviceSetGpuLockedClocks", gpu(), 600U, 900U), Return::success);
  EXPECT_EQ(nvml("nvmlDeviceGetClockInfo", gpu(), 1U, &value), Return::success);
  EXPECT_EQ(value, 900U);
  start("[driver]\nsetters = \"nobody\"\n" + kH200);
  EXPECT_EQ(nvml("nvmlDeviceSetPersistenceMode", gpu(), 1U), Return::no_permission);
}

TEST_F(Sim, CostsWhatItIsTold) {
  start("[cost]\ntable = \"h200\"\nscale = 0.1\n" + kH200);
  std::uint32_t rate = 0;
  const Handle device = gpu();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(nvml("nvmlDeviceGetPcieThroughput", device, 0U, &rate), Return::success);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  EXPECT_GE(took.count(), 2.05);
  EXPECT_EQ(rate, 8768U);
}

TEST_F(Sim, ServesManyThreadsWhileTheScenarioChanges) {
  start(kH200);
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::uint32_t value = 0;
      while (!stop) {
        Handle device = nullptr;
        if (nvml("nvmlDeviceGetHandleByIndex_v2", 0U, &device) == Return::success) {
          power(device, value);
        }
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(library().call<int>("gpulse_sim_load", (kH200 + "count = 2\n").c_str()), 0);
    fault("nvmlDeviceGetPowerUsage", -1, 999);
    at(i);
  }
  stop = true;
  for (std::thread &reader : readers) {
    reader.join();
  }
}

}  // namespace
}  // namespace gpulse::sim
