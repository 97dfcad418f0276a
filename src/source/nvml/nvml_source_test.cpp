// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/nvml_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sim/testing/sim_machine.hpp"
#include "source/nvml/fake_root.hpp"
#include "test_paths.hpp"

namespace gpulse::test {
namespace {

using testing::HasSubstr;

constexpr double kMib = 1048576;
constexpr auto kTemperature = device_metric("temperature_gpu_celsius");
constexpr auto kPower = device_metric("power_draw_watts");

std::string scenario_file(const std::string &name) {
  std::ifstream file(kSourceDir + "/sim/scenarios/" + name + ".toml");
  return {std::istreambuf_iterator<char>(file), {}};
}

// Checks for devices at every sample, and soon after a failure.
RunnerOptions watchful() {
  return {.call_deadline = 60s, .discover_deadline = 60s, .retry = 1ms, .check = 0ms, .tick = 1s};
}

class NvmlSource : public testing::Test {
 protected:
  void TearDown() override {
    sampler_.reset();
    sim_clear();
  }
  void start(const std::string &toml, bool events = false) {
    sim_load(toml);
    sim_time(0);
    sampler_ = make_sampler(watchful(), events, root_.sysroot());
  }
  SnapshotPtr sample() { return sampler_->sample(Pass::everything); }
  template <class Wanted>
  SnapshotPtr sample_until(Wanted wanted) {
    SnapshotPtr now;
    for (const auto end = monotonic_now() + 10s; monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
      now = sample();
      if (wanted(*now)) return now;
    }
    ADD_FAILURE() << "did not come about";
    return now;
  }

  FakeRoot root_;
  std::unique_ptr<Sampler> sampler_;
};

TEST_F(NvmlSource, ADriverOf2013GivesWhatItHas) {
  start(scenario_file("old-driver"));
  const auto now = sample();
  ASSERT_EQ(now->devices.size(), 2U);
  EXPECT_EQ(now->sources[0].problem, "");
  const auto &device = now->devices[0];
  EXPECT_EQ(device.identity->name, "Tesla K80");
  EXPECT_EQ(device.identity->driver, "331.62");
  EXPECT_EQ(device.identity->pci, "0000:10:00.0");
  const auto &row = device.row;
  EXPECT_EQ(row[kTemperature], Reading(61.0));
  EXPECT_EQ(row[kPower], Reading(118.3));
  EXPECT_EQ(row[device_metric("gpu_utilization_percent")], Reading(64.0));
  EXPECT_EQ(row[device_metric("memory_total_bytes")], Reading(11441 * kMib));
  EXPECT_EQ(row[device_metric("memory_used_bytes")], Reading(2101 * kMib));
  EXPECT_EQ(row[device_metric("clock_sm_mhz")], Reading(875.0));
  EXPECT_EQ(row[device_metric("retired_pages_double_bit_total")], Reading(1.0));
  for (const auto id : {device_metric("memory_reserved_bytes"), device_metric("energy_joules"),
                        device_metric("sm_active_percent"), device_metric("power_instant_watts"),
                        device_metric("temperature_memory_celsius"), device_metric("nvlink_links_active"),
                        device_metric("pcie_rx_bytes_per_second"), device_metric("remapped_rows_pending")}) {
    EXPECT_EQ(row[id], Reading(Reason::not_supported)) << describe(id).key;
  }
  ASSERT_EQ(now->processes.size(), 2U);
  EXPECT_EQ(now->processes[0].pid, 3001U);
  EXPECT_EQ(now->processes[1].row[process_metric("gpu_memory_bytes")], Reading(1012 * kMib));
  EXPECT_EQ(now->processes[0].row[process_metric("gpu_utilization_percent")], Reading(Reason::not_supported));
}

TEST_F(NvmlSource, InstancesAreDevicesWithAParent) {
  start(scenario_file("mig"));
  const auto now = sample();
  ASSERT_EQ(now->devices.size(), 10U);  // three devices; four instances of the first, three of the second
  const std::array<std::string_view, 10> wanted{"0", "0:0", "0:1", "0:2", "0:3", "1", "1:0", "1:1", "1:2", "2"};
  for (std::size_t i = 0; i < 10; ++i) {
    const auto &device = now->devices[i];
    EXPECT_EQ(text(device.id), wanted[i]);
    EXPECT_EQ(device.identity->parent, device.is_instance() ? now->devices[i < 5 ? 0 : 5].identity->uuid.str() : "");
  }
  const auto &first = now->devices[1];
  EXPECT_EQ(first.identity->label, "3g.40gb");
  EXPECT_EQ(first.row[device_metric("memory_total_bytes")], Reading(40192 * kMib));
  EXPECT_EQ(first.row[device_metric("memory_used_bytes")], Reading(20480 * kMib));
  EXPECT_EQ(first.row[device_metric("multiprocessor_count")], Reading(42.0));
  EXPECT_EQ(first.row[device_metric("xid_total")], Reading(Reason::not_supported));
  EXPECT_EQ(now->devices[4].row[device_metric("memory_used_bytes")], Reading(512 * kMib));
}

TEST_F(NvmlSource, AnEmptySlotIsNotTheLast) {
  start(
      "[[device]]\nprofile = \"a100\"\nmig = [{ profile = \"1g.10gb\", slot = 0, gi = 7, memory_total_mib = 9728 }, "
      "{ profile = \"1g.10gb\", slot = 4, gi = 11, memory_total_mib = 9728, memory_used_mib = 512 }]\n");
  const auto now = sample();
  ASSERT_EQ(now->devices.size(), 3U);
  EXPECT_EQ(now->devices[2].row[device_metric("memory_used_bytes")], Reading(512 * kMib));
  EXPECT_EQ(text(now->devices[2].id), "0:4") << "as nvidia-smi numbers it";
}

TEST_F(NvmlSource, ProcessesOfInstancesAreListedOnce) {
  start(scenario_file("mig"));
  const auto now = sample();
  std::map<std::uint32_t, std::string> device_of;
  for (const auto &process : now->processes) EXPECT_TRUE(device_of.emplace(process.pid, text(process.device)).second);
  EXPECT_EQ(device_of,
            (std::map<std::uint32_t, std::string>{{4101, "0:0"}, {4102, "0:1"}, {4103, "1:0"}, {4104, "2"}}));
}

TEST_F(NvmlSource, InstancesThatComeAndGoAreSeen) {
  start("[[device]]\nprofile = \"h100\"\n");
  EXPECT_EQ(sample()->devices.size(), 1U);
  sim_load("[[device]]\nprofile = \"h100-mig\"\n");
  sample_until([](const Snapshot &s) { return s.devices.size() == 4; });
  sim_load("[[device]]\nprofile = \"h100\"\n");
  const auto now = sample_until([](const Snapshot &s) { return s.devices.size() == 1; });
  EXPECT_EQ(now->sources[0].problem, "");
}

TEST_F(NvmlSource, ASleepingGpuIsLeftAlone) {
  root_.add_gpu("0000:10:00.0", "suspended");
  root_.write("/proc/driver/nvidia/gpus/0000:10:00.0/information",
              "Model: \t\t NVIDIA Sleeper\nGPU UUID: \t GPU-????\n");
  start(full_device(58, 612));
  for (int i = 0; i < 3; ++i) {
    const auto now = sample();
    ASSERT_EQ(now->devices.size(), 1U);
    EXPECT_EQ(now->devices[0].state, DeviceState::asleep);
    EXPECT_EQ(now->devices[0].identity->name, "NVIDIA Sleeper");
    EXPECT_EQ(now->devices[0].row[kPower], Reading(Reason::asleep));
  }
  EXPECT_EQ(sim_calls("*"), 0U);
  root_.add_gpu("0000:10:00.0", "active");
  auto now = sample();
  ASSERT_EQ(now->devices.size(), 1U);
  EXPECT_EQ(now->devices[0].id.index, 0U);
  EXPECT_EQ(now->devices[0].row[kPower], Reading(612.0));
  const auto uuid = now->devices[0].identity->uuid;
  // When it sleeps again it is still the same device, and the session is closed.
  root_.add_gpu("0000:10:00.0", "suspended");
  now = sample();
  ASSERT_EQ(now->devices.size(), 1U);
  EXPECT_EQ(now->devices[0].identity->uuid, uuid);
  EXPECT_EQ(now->devices[0].state, DeviceState::asleep);
  const auto calls = sim_calls("*");
  sample();
  EXPECT_EQ(sim_calls("*"), calls);
}

TEST_F(NvmlSource, SleepIsSeenWithoutAnEventOfTheKernel) {
  root_.write("/sys/kernel/uevent_seqnum", "100\n");
  root_.add_gpu("0000:10:00.0");
  start(full_device(58, 612));
  EXPECT_EQ(sample()->devices[0].state, DeviceState::ok);
  EXPECT_EQ(sample()->devices[0].state, DeviceState::ok);
  root_.add_gpu("0000:10:00.0", "suspended");
  EXPECT_EQ(sample()->devices[0].state, DeviceState::asleep);
  root_.add_gpu("0000:10:00.0", "active");
  EXPECT_EQ(sample()->devices[0].state, DeviceState::ok);
  // A GPU that is plugged in comes with an event.
  root_.add_gpu("0000:11:00.0", "suspended");
  root_.write("/sys/kernel/uevent_seqnum", "101\n");
  sample_until([](const Snapshot &s) { return s.devices.size() == 2; });
}

TEST_F(NvmlSource, AnIdleGpuThatMaySleepIsLetGo) {
  root_.add_gpu("0000:10:00.0");
  root_.write("/sys/bus/pci/devices/0000:10:00.0/power/control", "auto\n");
  sim_load("[[device]]\nprofile = \"laptop-4060\"\ngpu_util = 0\n");
  std::vector<std::shared_ptr<Source>> sources{
      nvml::make_source(root_.sysroot(), SourceOptions{.events = false, .idle_release_after = 1ms})};
  sampler_ = std::make_unique<Sampler>(std::move(sources), root_.sysroot(), watchful());
  auto now = sample();
  ASSERT_EQ(now->devices.size(), 1U);
  EXPECT_EQ(now->devices[0].state, DeviceState::ok);
  const auto uuid = now->devices[0].identity->uuid;
  std::this_thread::sleep_for(5ms);
  now = sample();
  EXPECT_EQ(now->devices[0].state, DeviceState::asleep);
  EXPECT_EQ(now->devices[0].identity->uuid, uuid);
  EXPECT_EQ(sim_calls("nvmlShutdown"), 1U);
  // It has fallen asleep, and somebody wakes it.
  root_.add_gpu("0000:10:00.0", "suspended");
  EXPECT_EQ(sample()->devices[0].state, DeviceState::asleep);
  root_.add_gpu("0000:10:00.0", "active");
  EXPECT_EQ(sample()->devices[0].state, DeviceState::ok);
}

TEST_F(NvmlSource, ABusyGpuIsHeld) {
  root_.add_gpu("0000:10:00.0");
  root_.write("/sys/bus/pci/devices/0000:10:00.0/power/control", "auto\n");
  sim_load("[[device]]\nprofile = \"laptop-4060\"\ngpu_util = 0\n[[process]]\ndevice = 0\npid = 9\nmemory_mib = 1\n");
  std::vector<std::shared_ptr<Source>> sources{
      nvml::make_source(root_.sysroot(), SourceOptions{.events = false, .idle_release_after = 50ms})};
  sampler_ = std::make_unique<Sampler>(std::move(sources), root_.sysroot(), watchful());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(sample()->devices[0].state, DeviceState::ok);
    std::this_thread::sleep_for(20ms);
  }
}

TEST_F(NvmlSource, NextToASleepingGpuNoneIsAskedForByIndex) {
  root_.add_gpu("0000:10:00.0", "suspended");
  root_.add_gpu("0000:11:00.0");
  start(full_device(58, 612) + full_device(61, 433));
  const auto now = sample();
  ASSERT_EQ(now->devices.size(), 2U);
  EXPECT_EQ(now->devices[0].state, DeviceState::asleep);
  EXPECT_EQ(now->devices[1].row[kTemperature], Reading(61.0));
  EXPECT_EQ(sim_calls("nvmlDeviceGetHandleByIndex_v2"), 0U);
  EXPECT_EQ(sim_calls("nvmlDeviceGetHandleByPciBusId_v2"), 1U);
}

TEST_F(NvmlSource, FaultsOnTheWayToAGpuByItsAddress) {
  root_.add_gpu("0000:10:00.0");
  root_.add_gpu("0000:11:00.0");
  root_.add_gpu("0000:12:00.0", "suspended");
  for (const bool older : {false, true}) {
    for (const int code : {1, 2, 3, 4, 6, 9, 13, 15, 16, 17, 19, 25, 77, 999}) {
      SCOPED_TRACE(std::to_string(code) + (older ? " of the older call" : ""));
      start(std::string(older ? "[driver]\nmissing = [\"nvmlDeviceGetHandleByPciBusId_v2\"]\n" : "") +
            full_device(58, 612) + full_device(61, 433));
      sim_fault(older ? "nvmlDeviceGetHandleByPciBusId" : "nvmlDeviceGetHandleByPciBusId_v2", 0, code);
      const auto now = sample();
      const bool answered = !older && (code == 2 || code == 3 || code == 13 || code == 25);
      const bool lost = code == 15 || code == 16 || code == 999;
      ASSERT_EQ(now->devices.size(), answered || lost ? 3U : 2U);
      EXPECT_EQ(now->sources[0].problem.contains("0000:10:00.0 cannot be used"), !answered && !lost);
      EXPECT_EQ(now->devices[now->devices.size() - 2].row[kTemperature], Reading(61.0));
      sampler_.reset();
      sim_clear();
    }
  }
}

TEST_F(NvmlSource, ALostGpuComesBack) {
  start(full_device(58, 612) + "lost = [[10, 20]]\n" + full_device(61, 433) + full_processes());
  auto now = sample();
  EXPECT_EQ(now->devices[0].row[kPower], Reading(612.0));
  EXPECT_EQ(now->processes.size(), 6U);
  sim_time(11);
  now = sample();
  EXPECT_EQ(now->processes.size(), 3U) << "those on the lost one are not known";
  EXPECT_EQ(now->devices[0].state, DeviceState::lost);
  EXPECT_EQ(now->devices[0].row[kPower], Reading(Reason::lost));
  EXPECT_EQ(now->devices[1].row[kPower], Reading(433.0));
  EXPECT_EQ(now->devices[0].identity->name, "NVIDIA H100 80GB HBM3");
  sim_time(21);
  now = sample_until([](const Snapshot &s) { return s.devices[0].state == DeviceState::ok; });
  ASSERT_EQ(now->devices.size(), 2U);
  EXPECT_EQ(now->devices[0].row[kPower], Reading(612.0));
}

TEST_F(NvmlSource, AGpuLostFromTheStartComesBackAsItself) {
  start(full_device(58, 612) + "lost = [[0, 20]]\n" + full_device(61, 433));
  auto now = sample();
  ASSERT_EQ(now->devices.size(), 2U);
  EXPECT_EQ(now->devices[0].state, DeviceState::lost);
  sim_time(21);
  now = sample_until([](const Snapshot &s) {
    return std::all_of(s.devices.begin(), s.devices.end(), [](const Device &d) { return d.state == DeviceState::ok; });
  });
  EXPECT_EQ(now->devices.size(), 2U);
}

TEST_F(NvmlSource, ANewGpuIsFound) {
  root_.add_gpu("0000:10:00.0");
  start(full_device(58, 612) + full_device(61, 433) + "from = 5\n");
  EXPECT_EQ(sample()->devices.size(), 1U);
  sim_time(6);
  root_.add_gpu("0000:11:00.0");
  const auto now = sample();
  ASSERT_EQ(now->devices.size(), 2U);
  EXPECT_EQ(now->devices[1].row[kPower], Reading(433.0));
}

TEST_F(NvmlSource, AReloadedDriverIsFound) {
  start(full_device(58, 612));
  sample();
  for (const int code : {1, 9, 18}) {
    sim_fault("*", -1, code);
    EXPECT_NE(sample_until([](const Snapshot &s) { return !s.sources[0].problem.empty(); })->sources[0].problem, "");
    sim_clear();
    const auto now = sample_until([](const Snapshot &s) {
      return s.sources[0].problem.empty() && s.devices.size() == 1 && s.devices[0].state == DeviceState::ok;
    });
    EXPECT_EQ(now->devices[0].row[kPower], Reading(612.0));
  }
}

TEST_F(NvmlSource, AMomentWithoutACountLosesNothing) {
  start(full_device(58, 612));
  sample();
  sim_fault("nvmlDeviceGetCount_v2", -1, 999);
  const auto now = sample();
  EXPECT_EQ(now->devices[0].state, DeviceState::ok);
  EXPECT_EQ(now->sources[0].problem, "");
}

TEST_F(NvmlSource, AMomentWithoutAUuidIsStillTheSameDevice) {
  root_.add_gpu("0000:10:00.0");
  start(full_device(58, 612));
  const auto uuid = sample()->devices[0].identity->uuid;
  sim_fault("nvmlDeviceGetUUID", 0, 999);
  root_.add_gpu("0000:77:00.0");  // triggers discovery
  const auto now = sample();
  ASSERT_EQ(now->devices.size(), 1U);
  EXPECT_EQ(now->devices[0].identity->uuid, uuid);
}

TEST_F(NvmlSource, AVersionMismatchIsTold) {
  root_.write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue\n");
  start("[driver]\nversion = \"580.159.04\"\nkernel_version = \"580.95.05\"\n" + full_device(58, 612));
  const auto now = sample();
  EXPECT_TRUE(now->devices.empty());
  EXPECT_THAT(now->sources[0].problem, HasSubstr("version mismatch (kernel module 580.95.05"));
  EXPECT_THAT(now->sources[0].remedy, HasSubstr("reboot"));
}

TEST_F(NvmlSource, AnXidIsCountedAndTold) {
  start(full_device(58, 612) + full_device(61, 433) +
            "[[event]]\ntime = 10\ndevice = 1\ntype = \"xid\"\ndata = 79\n"
            "[[event]]\ntime = 11\ndevice = 1\ntype = \"xid\"\ndata = 31\n",
        true);
  auto now = sample();
  EXPECT_EQ(now->devices[1].row[device_metric("xid_total")], Reading(0.0));
  EXPECT_EQ(now->devices[1].row[device_metric("xid_last")], Reading(Reason::not_sampled));
  sim_time(12);
  now = sample_until([](const Snapshot &s) {
    return s.devices[1].row[device_metric("xid_total")] == Reading(2.0) && s.events.size() == 2;
  });
  EXPECT_EQ(now->devices[1].row[device_metric("xid_last")], Reading(31.0));
  EXPECT_EQ(now->devices[0].row[device_metric("xid_total")], Reading(0.0));
  EXPECT_EQ(now->events[0].kind, EventKind::xid);
  EXPECT_EQ(now->events[0].code, 79);
  EXPECT_EQ(now->events[0].device, now->devices[1].identity->uuid);
  EXPECT_EQ(now->events[1].code, 31);
}

// Not being able to listen for errors does not mean that there are none.
TEST_F(NvmlSource, ADeviceWithoutEventsDoesNotSayZero) {
  start(full_device(58, 612) + "event_types = \"not supported\"\n" + full_device(61, 433), true);
  const auto now = sample();
  EXPECT_EQ(now->devices[0].row[device_metric("xid_total")], Reading(Reason::not_supported));
  EXPECT_EQ(now->devices[1].row[device_metric("xid_total")], Reading(0.0));
}

struct Numbering {
  const char *version;
  Reading wanted;
};

// 251 to 253 from 575.51 on, 269 to 271 from 580.82 on; before, these numbers mean something else.
TEST_F(NvmlSource, SlowdownFieldsByDriverVersion) {
  for (const auto &[version, wanted] :
       {Numbering{"570.86.15", Reason::not_supported}, Numbering{"575.50", Reason::not_supported},
        Numbering{"575.51.03", 5.0}, Numbering{"580.65.06", 5.0}, Numbering{"580.82.07", 5.0},
        Numbering{"580.159.04", 5.0}, Numbering{"595.10", 5.0}}) {
    SCOPED_TRACE(version);
    start(std::string("[driver]\nversion = \"") + version + "\"\n" + full_device(58, 612) +
          "held_sw_thermal_ns = 5000000000\nheld_hw_thermal_ns = 5000000000\nheld_power_brake_ns = 5000000000\n");
    const auto now = sample();
    for (const auto id : {device_metric("throttled_sw_thermal_seconds"), device_metric("throttled_hw_thermal_seconds"),
                          device_metric("throttled_power_brake_seconds")}) {
      EXPECT_EQ(now->devices[0].row[id], wanted) << describe(id).key;
    }
    sampler_.reset();
  }
}

// Each GPM metric costs the driver time.
TEST_F(NvmlSource, OfTrueActivityWhatNobodyLooksAtStandsForAWhile) {
  constexpr auto kActive = device_metric("sm_active_percent"), kInteger = device_metric("integer_active_percent");
  start(
      "[[device]]\nprofile = \"h200\"\n[device.gpm]\nsmutil = { steps = [[0, 80], [10, 20]] }\n"
      "intutil = { steps = [[0, 5], [10, 9]] }\n");
  const auto at = [&](double seconds) {
    sim_time(seconds);
    const auto now = sample();
    std::this_thread::sleep_for(100ms);
    return std::pair(now->devices[0].row[kActive], now->devices[0].row[kInteger]);
  };
  at(0);
  EXPECT_EQ(at(1), std::pair(Reading(80.0), Reading(5.0)));
  sampler_->focus(MetricSet{kActive});
  at(20);
  EXPECT_EQ(at(21), std::pair(Reading(20.0), Reading(5.0)));
  sampler_->focus(MetricSet{kActive, kInteger});
  EXPECT_EQ(at(22), std::pair(Reading(20.0), Reading(9.0)));
}

// Metrics that the device does not have stay not_supported through a failure of the others.
TEST_F(NvmlSource, AFailureThatPassesLeavesNoTrace) {
  start("[[device]]\nprofile = \"h200\"\n");
  sample();
  std::this_thread::sleep_for(100ms);
  const auto before = sample();
  const auto links = device_metric("nvlink_crc_flit_errors_total");
  const auto decoder = device_metric("decoder_5_active_percent");
  EXPECT_EQ(before->devices[0].row[links], Reading(Reason::not_supported));
  EXPECT_EQ(before->devices[0].row[decoder], Reading(Reason::not_supported));
  sim_fault("nvmlDeviceGetFieldValues", 0, 999);
  sim_fault("nvmlGpmMetricsGet", 0, 999);
  std::this_thread::sleep_for(100ms);
  auto now = sample();
  EXPECT_EQ(now->devices[0].row[device_metric("power_instant_watts")], Reading(Reason::error, 999));
  EXPECT_EQ(now->devices[0].row[device_metric("sm_active_percent")], Reading(Reason::error, 999));
  sim_clear();
  for (int i = 0; i < 2; ++i) {
    std::this_thread::sleep_for(100ms);
    now = sample();
  }
  EXPECT_EQ(now->devices[0].row[device_metric("power_instant_watts")], Reading(759.51));
  EXPECT_EQ(now->devices[0].row[device_metric("sm_active_percent")], Reading(80.918));
  EXPECT_EQ(now->devices[0].row[links], Reading(Reason::not_supported));
  EXPECT_EQ(now->devices[0].row[decoder], Reading(Reason::not_supported));
}

}  // namespace
}  // namespace gpulse::test
