// SPDX-License-Identifier: Apache-2.0
// The simulator through its C interface, as any NVML client loads it. Expected values are written by hand.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "source/nvml/abi.hpp"

namespace {

using namespace gpulse::nvml;

constexpr std::uint64_t kMib = 1048576;

class Library {
 public:
  Library() {
    setenv("GPULSE_SIM_SCENARIO", "single", 1);
    handle_ = dlopen(GPULSE_BUILD_DIR "/sim/libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  }

  [[nodiscard]] void *symbol(const char *name) const { return dlsym(handle_, name); }

  template <class R = Return, class... Args>
  R call(const char *name, Args... args) const {
    auto *function = reinterpret_cast<R (*)(Args...)>(symbol(name));
    if (function == nullptr) {
      ADD_FAILURE() << name << " is missing";
      return R();
    }
    return function(args...);
  }

 private:
  void *handle_ = nullptr;
};

const Library &library() {
  static const Library instance;
  return instance;
}

template <class... Args>
Return nvml(const char *name, Args... args) {
  return library().call(name, args...);
}

bool has(const char *name) { return library().symbol(name) != nullptr; }

class Sim : public testing::Test {
 protected:
  void TearDown() override {
    library().call<void>("gpulse_sim_clear");
    while (nvml("nvmlShutdown") == Return::success) {
    }
  }

  static void start(const std::string &toml) {
    ASSERT_EQ(library().call<int>("gpulse_sim_load", toml.c_str()), 0) << error();
    at(0);
    ASSERT_EQ(nvml("nvmlInit_v2"), Return::success);
  }
  static std::string error() { return library().call<const char *>("gpulse_sim_error"); }
  static void at(double seconds) { library().call<void>("gpulse_sim_set_time", seconds); }
  static void fault(const char *name, int device, int code) {
    library().call<void>("gpulse_sim_fault", name, device, code);
  }
  static Handle gpu(std::uint32_t index = 0) {
    Handle handle = nullptr;
    EXPECT_EQ(nvml("nvmlDeviceGetHandleByIndex_v2", index, &handle), Return::success);
    return handle;
  }
  static Return power(Handle device, std::uint32_t &milliwatts) {
    return nvml("nvmlDeviceGetPowerUsage", device, &milliwatts);
  }
};

const std::string kH200 = "[[device]]\nprofile = \"h200\"\n";
const std::string kTwoProcesses =
    "[[process]]\npid = 11\nmemory_mib = 100\nsm = 7\n"
    "[[process]]\npid = 12\nmemory_mib = 200\nprotected_mib = 3\nfrom = 5\nuntil = 9\n";

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

TEST_F(Sim, LoadsEveryShippedScenario) {
  for (const auto &entry : std::filesystem::directory_iterator(GPULSE_BUILD_DIR "/sim/scenarios")) {
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

class GpmPair {
 public:
  GpmPair() {
    nvml("nvmlGpmSampleAlloc", &request.sample1);
    nvml("nvmlGpmSampleAlloc", &request.sample2);
  }
  ~GpmPair() {
    nvml("nvmlGpmSampleFree", request.sample1);
    nvml("nvmlGpmSampleFree", request.sample2);
  }
  GpmPair(const GpmPair &) = delete;
  GpmPair &operator=(const GpmPair &) = delete;

  GpmMetricsGet<3> request{};
};

TEST_F(Sim, AveragesGpmBetweenSamples) {
  start(kH200 + "[device.gpm]\nsmutil = { steps = [[0, 10], [1, 50]] }\n");
  GpmPair pair;
  EXPECT_EQ(nvml("nvmlGpmSampleGet", gpu(), pair.request.sample1), Return::success);
  at(2);
  EXPECT_EQ(nvml("nvmlGpmSampleGet", gpu(), pair.request.sample2), Return::success);
  pair.request.version = 1;
  pair.request.count = 3;
  pair.request.metrics[0].id = 2;
  pair.request.metrics[1].id = 10;
  pair.request.metrics[2].id = 100;
  EXPECT_EQ(nvml("nvmlGpmMetricsGet", &pair.request), Return::success);
  EXPECT_NEAR(pair.request.metrics[0].value, 30, 1e-9);
  EXPECT_STREQ(pair.request.metrics[0].short_name, "smutil");
  EXPECT_NEAR(pair.request.metrics[1].value, 16.161, 1e-9);
  EXPECT_EQ(pair.request.metrics[2].result, Return::not_supported);
  fault("nvmlGpmMetricsGet", 0, -2);
  EXPECT_EQ(nvml("nvmlGpmMetricsGet", &pair.request), Return::success);
  EXPECT_TRUE(std::isnan(pair.request.metrics[0].value));
}

TEST_F(Sim, SplitsAGpu) {
  start(
      "[[device]]\nprofile = \"h100-mig\"\n[[process]]\npid = 21\nmemory_mib = 30\ngi = 5\nci = 0\n"
      "[[process]]\npid = 22\nmemory_mib = 40\ngi = 1\nci = 0\n");
  Utilization utilization{};
  EXPECT_EQ(nvml("nvmlDeviceGetUtilizationRates", gpu(), &utilization), Return::not_supported);
  Handle instance = nullptr;
  EXPECT_EQ(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu(), 3U, &instance), Return::not_found);
  ASSERT_EQ(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu(), 1U, &instance), Return::success);
  std::array<char, 96> text{};
  EXPECT_EQ(nvml("nvmlDeviceGetName", instance, text.data(), 96U), Return::success);
  EXPECT_STREQ(text.data(), "NVIDIA H100 80GB HBM3 MIG 2g.20gb");
  EXPECT_EQ(nvml("nvmlDeviceGetUUID", instance, text.data(), 96U), Return::success);
  EXPECT_EQ(std::string(text.data()).substr(0, 4), "MIG-");
  DeviceAttributes attributes{};
  EXPECT_EQ(nvml("nvmlDeviceGetAttributes_v2", instance, &attributes), Return::success);
  EXPECT_EQ(attributes.multiprocessors, 32U);
  EXPECT_EQ(attributes.memory_mib, 20096U);
  std::uint32_t count = 4;
  std::array<ProcessInfoV2, 4> rows{};
  EXPECT_EQ(nvml("nvmlDeviceGetComputeRunningProcesses_v2", instance, &count, static_cast<void *>(rows.data())),
            Return::success);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(rows[0].pid, 21U);
  GpmPair pair;
  EXPECT_EQ(nvml("nvmlGpmMigSampleGet", gpu(), 1U, pair.request.sample1), Return::success);
  EXPECT_EQ(nvml("nvmlGpmMigSampleGet", gpu(), 1U, pair.request.sample2), Return::success);
  pair.request.version = 1;
  pair.request.count = 1;
  pair.request.metrics[0].id = 2;
  EXPECT_EQ(nvml("nvmlGpmMetricsGet", &pair.request), Return::success);
  EXPECT_NEAR(pair.request.metrics[0].value, 88.25, 1e-9);
}

TEST_F(Sim, DeliversEventsFromRegistrationOn) {
  start(kH200 + "[[event]]\ntime = 1\ntype = \"xid\"\ndata = 31\n[[event]]\ntime = 5\ntype = \"xid\"\ndata = 79\n");
  at(2);
  EventSet set = nullptr;
  ASSERT_EQ(nvml("nvmlEventSetCreate", &set), Return::success);
  EXPECT_EQ(nvml("nvmlDeviceRegisterEvents", gpu(), event::kXid, set), Return::success);
  EventData data{};
  EXPECT_EQ(nvml("nvmlEventSetWait_v2", set, &data, 1U), Return::timeout);
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    at(6);
  });
  EXPECT_EQ(nvml("nvmlEventSetWait_v2", set, &data, 5000U), Return::success);
  later.join();
  EXPECT_EQ(data.data, 79U);
  EXPECT_EQ(data.device, gpu());
  EXPECT_EQ(nvml("nvmlEventSetWait_v2", set, &data, 1U), Return::timeout);
  EXPECT_EQ(nvml("nvmlEventSetFree", set), Return::success);
}

TEST_F(Sim, NamesAMistake) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(library().call<int>("gpulse_sim_load", "[[device]]\nprofile = \"h200\"\ngpu_utill = 3\n"), 999);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gpulse-sim: scenario text:3: unknown key \"gpu_utill\"\n");
  EXPECT_EQ(nvml("nvmlInit_v2"), Return::unknown);
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
