// SPDX-License-Identifier: Apache-2.0
#include "source/intel/intel_source.hpp"

#include <gtest/gtest.h>

#include <sys/inotify.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "base/unique_fd.hpp"
#include "source/intel/intel_machine.hpp"

namespace gpulse::intel {
namespace {

using namespace std::chrono_literals;
using test::IntelMachine;
using test::Watch;

constexpr Monotonic kStart{1h};
constexpr auto kUse = device_metric("gpu_utilization_percent");
constexpr auto kAwake = device_metric("awake_percent");
constexpr auto kMediaAwake = device_metric("media_awake_percent");
constexpr auto kRender = device_metric("render_utilization_percent");
constexpr auto kVideo = device_metric("video_utilization_percent");
constexpr auto kPower = device_metric("power_draw_watts");
constexpr auto kPackagePower = device_metric("package_power_watts");
constexpr auto kEnergy = device_metric("energy_joules");
constexpr auto kTemperature = device_metric("temperature_gpu_celsius");

// A card with one GT for graphics and one for video, like Battlemage.
std::string add_xe(const IntelMachine &machine, int number, const std::string &pci) {
  const auto folder = machine.add_card(number, "xe", pci);
  const auto tile = folder + "/device/tile0";
  machine.write(tile + "/gt0/gtidle/name", "gt0-rc\n");
  machine.write(tile + "/gt0/gtidle/idle_residency_ms", 848'095);
  machine.write(tile + "/gt0/freq0/act_freq", 2000);
  machine.write(tile + "/gt0/freq0/throttle/status", "0\n");
  machine.write(tile + "/gt0/freq0/throttle/reason_pl1", "0\n");
  machine.write(tile + "/gt0/freq0/throttle/reason_thermal", "0\n");
  machine.write(tile + "/gt1/gtidle/name", "gt1-mc\n");
  machine.write(tile + "/gt1/gtidle/idle_residency_ms", 1'277'960);
  machine.write(tile + "/gt1/freq0/act_freq", 1200);
  for (const auto *const engine : {"rcs", "bcs", "ccs"}) {
    machine.files().make_folder(tile + "/gt0/engines/" + engine);
  }
  for (const auto *const engine : {"vcs", "vecs"}) machine.files().make_folder(tile + "/gt1/engines/" + engine);
  const auto hwmon = folder + "/device/hwmon/hwmon4";
  machine.write(hwmon + "/name", "xe\n");
  machine.write(hwmon + "/energy1_input", "0\n");
  machine.write(hwmon + "/energy1_label", "card\n");
  machine.write(hwmon + "/energy2_input", 29'523'753'173);
  machine.write(hwmon + "/energy2_label", "pkg\n");
  machine.write(hwmon + "/power1_crit", 380'000'000);
  machine.write(hwmon + "/power1_label", "card\n");
  return folder;
}

TEST(IntelSource, MachineWithoutIntelIsNoProblem) {
  const IntelMachine machine;
  machine.add_card(0, "nvidia", "0000:09:00.0");
  Watch watch(machine);
  EXPECT_TRUE(watch.found().entities.empty());
  EXPECT_EQ(watch.found().problem, "");
  EXPECT_FALSE(watch.source().changed());
}

TEST(IntelSource, PowerFromTheCounterThatCounts) {
  const IntelMachine machine;
  const auto hwmon = add_xe(machine, 1, "0000:0b:00.0") + "/device/hwmon/hwmon4";
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_TRUE(watch.row()[kPower].is(Reason::not_sampled));
  EXPECT_DOUBLE_EQ(watch.row()[kEnergy].value(), 29523.753173);
  machine.write(hwmon + "/energy2_input", 29'523'753'173 + 12'500'000);
  watch.read(kStart + 100ms);
  EXPECT_DOUBLE_EQ(watch.row()[kPower].value(), 125);
  EXPECT_DOUBLE_EQ(watch.row()[kPackagePower].value(), 125);
  // On kernels that count for the whole board, that counter is used.
  machine.write(hwmon + "/energy1_input", 1'000'000);
  machine.write(hwmon + "/energy2_input", 29'523'753'173 + 25'000'000);
  watch.read(kStart + 200ms);
  EXPECT_TRUE(watch.row()[kPower].is(Reason::not_sampled));
  machine.write(hwmon + "/energy1_input", 16'000'000);
  machine.write(hwmon + "/energy2_input", 29'523'753'173 + 37'500'000);
  watch.read(kStart + 300ms);
  EXPECT_DOUBLE_EQ(watch.row()[kPower].value(), 150);
  EXPECT_DOUBLE_EQ(watch.row()[kPackagePower].value(), 125);
  EXPECT_DOUBLE_EQ(watch.row()[kEnergy].value(), 16);
  // More than twice the 380 W of power1_crit.
  machine.write(hwmon + "/energy1_input", 16'000'000 + 76'100'000);
  watch.read(kStart + 400ms);
  EXPECT_TRUE(watch.row()[kPower].is(Reason::out_of_range));
  // The driver was reloaded.
  machine.write(hwmon + "/energy1_input", 500);
  watch.read(kStart + 500ms);
  EXPECT_TRUE(watch.row()[kPower].is(Reason::not_sampled));
}

TEST(IntelSource, AwakeIsWhatTheIdleTimeLeaves) {
  const IntelMachine machine;
  const auto tile = add_xe(machine, 1, "0000:0b:00.0") + "/device/tile0";
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_TRUE(watch.row()[kAwake].is(Reason::not_sampled));
  EXPECT_TRUE(watch.row()[kUse].is(Reason::not_sampled));
  machine.write(tile + "/gt0/gtidle/idle_residency_ms", 848'095 + 150);
  machine.write(tile + "/gt1/gtidle/idle_residency_ms", 1'277'960 + 200);
  watch.read(kStart + 200ms);
  EXPECT_DOUBLE_EQ(watch.row()[kAwake].value(), 25);
  EXPECT_DOUBLE_EQ(watch.row()[kMediaAwake].value(), 0);
  // Without /proc its users are unknown, and only the time awake is left.
  EXPECT_DOUBLE_EQ(watch.row()[kUse].value(), 25);
  EXPECT_EQ(watch.row()[device_metric("clock_graphics_mhz")], Reading(2000));
  EXPECT_EQ(watch.row()[device_metric("clock_video_mhz")], Reading(1200));
}

TEST(IntelSource, Rc6OfI915IsIdleToo) {
  const IntelMachine machine;
  const auto card = machine.add_card(0, "i915", "0000:00:02.0");
  machine.write(card + "/gt/gt0/rc6_residency_ms", 6534);
  Watch watch(machine);
  watch.read(kStart);
  machine.write(card + "/gt/gt0/rc6_residency_ms", 6534 + 90);
  watch.read(kStart + 100ms);
  EXPECT_DOUBLE_EQ(watch.row()[kAwake].value(), 10);
  machine.write(card + "/gt/gt0/rc6_residency_ms", 5);
  watch.read(kStart + 200ms);
  EXPECT_TRUE(watch.row()[kAwake].is(Reason::not_sampled));
}

TEST(IntelSource, ProcessorsOwnCountersSpeakForItsGraphics) {
  const IntelMachine machine;
  machine.add_card(0, "i915", "0000:00:02.0");
  const std::string zones = "/sys/class/powercap/";
  machine.write(zones + "intel-rapl:0/name", "package-0\n");
  machine.write(zones + "intel-rapl:0:0/name", "core\n");
  machine.write(zones + "intel-rapl:0:0/energy_uj", 77);
  machine.write(zones + "intel-rapl:0:1/name", "uncore\n");
  machine.write(zones + "intel-rapl:0:1/energy_uj", 262'143'000'000);
  machine.write(zones + "intel-rapl:0:1/max_energy_range_uj", 262'143'328'850);
  machine.write("/sys/class/hwmon/hwmon0/name", "nvme\n");
  machine.write("/sys/class/hwmon/hwmon0/temp1_input", "38000\n");
  machine.write("/sys/class/hwmon/hwmon2/name", "coretemp\n");
  machine.write("/sys/class/hwmon/hwmon2/temp1_input", "61000\n");
  machine.write("/sys/class/hwmon/hwmon2/temp1_label", "Package id 0\n");
  machine.write("/sys/class/hwmon/hwmon2/temp1_crit", "100000\n");
  machine.write("/sys/class/hwmon/hwmon2/temp2_input", "55000\n");
  machine.write("/sys/class/hwmon/hwmon2/temp2_label", "Core 0\n");
  Watch watch(machine);
  watch.read(kStart);
  machine.write(zones + "intel-rapl:0:1/energy_uj", 171'150);
  watch.read(kStart + 250ms);
  EXPECT_DOUBLE_EQ(watch.row()[kPower].value(), 2);  // 328,850 + 171,150 µJ
  EXPECT_TRUE(watch.row()[kEnergy].is(Reason::not_supported));
  EXPECT_TRUE(watch.row()[kPackagePower].is(Reason::not_supported));
  EXPECT_EQ(watch.row()[kTemperature], Reading(61));
  EXPECT_EQ(watch.row()[device_metric("temperature_slowdown_celsius")], Reading(100));
}

TEST(IntelSource, TilesTogetherAreThePackage) {
  const IntelMachine machine;
  const auto hwmon = machine.add_card(0, "i915", "0000:4d:00.0") + "/device/hwmon/";
  machine.write(hwmon + "hwmon5/name", "i915\n");
  machine.write(hwmon + "hwmon5/power1_max", 600'000'000);
  machine.write(hwmon + "hwmon6/name", "i915_gt0\n");
  machine.write(hwmon + "hwmon6/energy1_input", 5'000'000);
  machine.write(hwmon + "hwmon7/name", "i915_gt1\n");
  machine.write(hwmon + "hwmon7/energy1_input", 7'000'000);
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_DOUBLE_EQ(watch.row()[kEnergy].value(), 12);
  machine.write(hwmon + "hwmon6/energy1_input", 105'000'000);
  machine.write(hwmon + "hwmon7/energy1_input", 57'000'000);
  watch.read(kStart + 1s);
  EXPECT_DOUBLE_EQ(watch.row()[kPower].value(), 150);
  EXPECT_EQ(watch.row()[device_metric("power_limit_watts")], Reading(600));
}

TEST(IntelSource, ThrottleReasonsOfAllParts) {
  const IntelMachine machine;
  const auto tile = add_xe(machine, 1, "0000:0b:00.0") + "/device/tile0";
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_EQ(watch.row()[device_metric("throttle_reasons")], Reading(0));
  machine.write(tile + "/gt0/freq0/throttle/status", "1\n");
  machine.write(tile + "/gt0/freq0/throttle/reason_pl1", "1\n");
  machine.write(tile + "/gt0/freq0/throttle/reason_thermal", "1\n");
  watch.read(kStart + 1s);
  EXPECT_EQ(watch.row()[device_metric("throttle_reasons")], Reading(0x44));  // power cap, hw thermal
  machine.write(tile + "/gt0/freq0/throttle/reason_pl1", "0\n");
  machine.write(tile + "/gt0/freq0/throttle/reason_thermal", "0\n");
  watch.read(kStart + 2s);
  EXPECT_EQ(watch.row()[device_metric("throttle_reasons")], Reading(0x1000));  // one without a file: other
}

std::string xe_client(int id, std::uint64_t render, std::uint64_t video, std::uint64_t total, std::uint64_t vram_kib) {
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  return "pos:\t0\ndrm-driver:\txe\ndrm-client-id:\t" + text(static_cast<std::uint64_t>(id)) +
         "\ndrm-pdev:\t0000:0b:00.0\n"
         "drm-total-system:\t0\ndrm-resident-system:\t2 MiB\ndrm-resident-vram0:\t" +
         text(vram_kib) + " KiB\ndrm-shared-vram0:\t0\ndrm-cycles-rcs:\t" + text(render) + "\ndrm-total-cycles-rcs:\t" +
         text(total) + "\ndrm-cycles-vcs:\t" + text(video) + "\ndrm-total-cycles-vcs:\t" + text(total) +
         "\ndrm-engine-capacity-vcs:\t2\n";
}

TEST(IntelSource, EnginesAndMemoryOfProcesses) {
  const IntelMachine machine;
  const auto tile = add_xe(machine, 1, "0000:0b:00.0") + "/device/tile0";
  machine.write("/sys/fs/cgroup/dmem.capacity",
                "drm/0000:0b:00.0/vram0 12884901888\ndrm/0000:0b:00.0/stolen 67108864\n");
  machine.add_process(100, 5, "/dev/dri/renderD129", xe_client(7, 1000, 0, 50'000, 1024));
  machine.add_process(200, 6, "/dev/dri/renderD129", xe_client(8, 0, 500, 50'000, 3072));
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_TRUE(watch.row()[kRender].is(Reason::not_sampled));
  EXPECT_EQ(watch.row()[device_metric("memory_used_bytes")], Reading(4096 * 1024));
  EXPECT_EQ(watch.row()[device_metric("memory_vram_used_bytes")], Reading(4096 * 1024));
  EXPECT_EQ(watch.row()[device_metric("memory_gtt_used_bytes")], Reading(4 * 1024 * 1024));
  EXPECT_EQ(watch.row()[device_metric("memory_total_bytes")], Reading(12884901888.0));
  EXPECT_TRUE(watch.row()[device_metric("memory_free_bytes")].is(Reason::not_sampled));
  // 19.2 MHz clock: 100 ms are 1,920,000 cycles.
  machine.add_process(100, 5, "/dev/dri/renderD129", xe_client(7, 1000 + 1'440'000, 0, 1'970'000, 1024));
  machine.add_process(200, 6, "/dev/dri/renderD129", xe_client(8, 192'000, 500 + 960'000, 1'970'000, 3072));
  machine.write(tile + "/gt0/gtidle/idle_residency_ms", 848'095 + 5);
  watch.read(kStart + 100ms);
  EXPECT_DOUBLE_EQ(watch.row()[kRender].value(), 85);
  EXPECT_DOUBLE_EQ(watch.row()[kVideo].value(), 25);  // 50 % of one of two
  EXPECT_DOUBLE_EQ(watch.row()[kUse].value(), 85);
  EXPECT_DOUBLE_EQ(watch.row()[kAwake].value(), 95);
  EXPECT_EQ(watch.row()[device_metric("copy_utilization_percent")], Reading(0));
  EXPECT_TRUE(watch.row()[device_metric("decoder_utilization_percent")].is(Reason::not_supported));
  ASSERT_EQ(watch.frame().processes.size(), 2U);
  const auto &first = watch.frame().processes[0];
  EXPECT_EQ(first.pid, 100U);
  EXPECT_TRUE(first.own_namespace);
  EXPECT_DOUBLE_EQ(first.row[process_metric("render_utilization_percent")].value(), 75);
  EXPECT_EQ(first.row[process_metric("gpu_memory_bytes")], Reading(1024 * 1024));
  EXPECT_DOUBLE_EQ(watch.frame().processes[1].row[process_metric("gpu_utilization_percent")].value(), 10);
}

TEST(IntelSource, MemoryOfGraphicsInTheProcessorIsTheHosts) {
  const IntelMachine machine;
  machine.add_card(0, "i915", "0000:00:02.0");
  machine.add_process(100, 5, "/dev/dri/renderD128",
                      "drm-driver: i915\ndrm-client-id: 3\ndrm-pdev: 0000:00:02.0\n"
                      "drm-resident-system0: 8 MiB\ndrm-shared-system0: 1 MiB\ndrm-resident-stolen-system0: 0\n"
                      "drm-engine-render: 1000 ns\n");
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_EQ(watch.row()[device_metric("memory_used_bytes")], Reading(8 * 1024 * 1024));
  EXPECT_FALSE(watch.row()[device_metric("memory_total_bytes")]);
  EXPECT_EQ(watch.frame().processes.at(0).row[process_metric("gpu_memory_bytes")], Reading(8 * 1024 * 1024));
}

TEST(IntelSource, MemoryOfClientsWithoutAKindIsTheProcessorsOnly) {
  const IntelMachine machine;
  machine.add_card(0, "i915", "0000:00:02.0");
  machine.add_card(1, "i915", "0000:03:00.0");
  const std::string_view text = "drm-driver: i915\ndrm-client-id: 3\ndrm-total-memory: 157284 KiB\n";
  machine.add_process(100, 5, "/dev/dri/renderD128", text);
  machine.add_process(200, 5, "/dev/dri/renderD129", text);
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_EQ(watch.row(0)[device_metric("memory_used_bytes")], Reading(157284 * 1024));
  EXPECT_EQ(watch.row(0)[device_metric("memory_gtt_used_bytes")], Reading(157284 * 1024));
  EXPECT_FALSE(watch.row(1)[device_metric("memory_used_bytes")]) << "the card's own, or the host's?";
}

TEST(IntelSource, SensorThatIsAlwaysAtZeroIsNotThere) {
  const IntelMachine machine;
  const auto sensors = machine.add_card(1, "xe", "0000:0b:00.0") + "/device/hwmon/hwmon4";
  machine.write(sensors + "/name", "xe\n");
  machine.write(sensors + "/temp2_label", "pkg\n");
  machine.write(sensors + "/temp2_input", 0);
  machine.write(sensors + "/in1_label", "pkg\n");
  machine.write(sensors + "/in1_input", 0);
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_TRUE(watch.row()[device_metric("temperature_gpu_celsius")].is(Reason::not_supported));
  EXPECT_TRUE(watch.row()[device_metric("voltage_graphics_volts")].is(Reason::not_supported));
  machine.write(sensors + "/in1_input", 605);
  watch.read(kStart + 1s);
  EXPECT_EQ(watch.row()[device_metric("voltage_graphics_volts")], Reading(0.605));
  machine.write(sensors + "/in1_input", 0);
  watch.read(kStart + 2s);
  EXPECT_EQ(watch.row()[device_metric("voltage_graphics_volts")], Reading(0)) << "switched off";
}

TEST(IntelSource, EngineThatNobodyUsesIsIdleOnceItWasLookedAtTwice) {
  const IntelMachine machine;
  add_xe(machine, 1, "0000:0b:00.0");
  machine.files().make_folder("/proc");
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_TRUE(watch.row()[kRender].is(Reason::not_sampled));
  watch.read(kStart + 100ms);
  EXPECT_EQ(watch.row()[kRender], Reading(0));
  EXPECT_EQ(watch.row()[kUse], Reading(0));
  EXPECT_TRUE(watch.row()[device_metric("jpeg_utilization_percent")].is(Reason::not_supported));
}

// Counters of i915's render engine, set by the test.
struct FakeCounter final : Counter {
  explicit FakeCounter(const Count &count) : count_(count) {}
  std::optional<Count> read() override { return count_; }
  const Count &count_;
};

void add_i915_counters(const IntelMachine &machine, const std::string &name) {
  const auto folder = "/sys/bus/event_source/devices/" + name;
  machine.write(folder + "/type", "18\n");
  machine.write(folder + "/events/rcs0-busy", "config=0x0\n");
}

TEST(IntelSource, CountersKnowMoreThanTheClients) {
  const IntelMachine machine;
  machine.add_card(0, "i915", "0000:03:00.0");
  add_i915_counters(machine, "i915_0000_03_00.0");
  machine.add_process(100, 5, "/dev/dri/renderD128", "drm-driver: i915\ndrm-client-id: 3\ndrm-engine-render: 0 ns\n");
  Counter::Count count{0, 0};
  const auto open = [&](std::uint32_t type, std::uint64_t, std::uint32_t) {
    EXPECT_EQ(type, 18U);
    return std::make_unique<FakeCounter>(count);
  };
  Watch watch(machine, {}, open);
  watch.read(kStart);
  EXPECT_TRUE(watch.row()[kUse].is(Reason::not_sampled));
  count = {40'000'000, 100'000'000};
  watch.read(kStart + 100ms);
  EXPECT_DOUBLE_EQ(watch.row()[kRender].value(), 40);
  EXPECT_DOUBLE_EQ(watch.row()[kUse].value(), 40);
}

TEST(IntelSource, WithoutTheRightToCountersTheClientsAreAsked) {
  const IntelMachine machine;
  machine.add_card(0, "i915", "0000:03:00.0");
  add_i915_counters(machine, "i915_0000_03_00.0");
  machine.add_process(100, 5, "/dev/dri/renderD128", "drm-driver: i915\ndrm-client-id: 3\ndrm-engine-render: 0 ns\n");
  int tries = 0;
  const auto open = [&](std::uint32_t, std::uint64_t, std::uint32_t) -> std::unique_ptr<Counter> {
    ++tries;
    errno = EACCES;
    return nullptr;
  };
  Watch watch(machine, {}, open);
  watch.read(kStart);
  machine.add_process(100, 5, "/dev/dri/renderD128",
                      "drm-driver: i915\ndrm-client-id: 3\ndrm-engine-render: 30000000 ns\n");
  watch.read(kStart + 100ms);
  EXPECT_DOUBLE_EQ(watch.row()[kUse].value(), 30);
  EXPECT_EQ(tries, 1);
}

TEST(IntelSource, CountersOfXeAreOpenedOnlyWhenTheDeviceMayBeKeptAwake) {
  const IntelMachine machine;
  add_xe(machine, 1, "0000:0b:00.0");
  const std::string folder = "/sys/bus/event_source/devices/xe_0000_0b_00.0";
  machine.write(folder + "/type", "24\n");
  machine.write(folder + "/format/event", "config:0-11\n");
  machine.write(folder + "/format/engine_instance", "config:12-19\n");
  machine.write(folder + "/format/engine_class", "config:20-27\n");
  machine.write(folder + "/format/gt", "config:60-63\n");
  machine.write(folder + "/events/engine-active-ticks", "event=0x02\n");
  machine.write(folder + "/events/engine-total-ticks", "event=0x03\n");
  int tries = 0;
  const auto open = [&](std::uint32_t, std::uint64_t, std::uint32_t) -> std::unique_ptr<Counter> {
    ++tries;
    errno = ENOENT;
    return nullptr;
  };
  Watch(machine, {}, open).read(kStart);
  EXPECT_EQ(tries, 0);
  SourceOptions options;
  options.wake = true;
  Watch(machine, options, open).read(kStart);
  EXPECT_EQ(tries, 80);  // five classes, eight places, two parts
}

TEST(IntelSource, SleepingCardIsLeftAlone) {
  const IntelMachine machine;
  const auto card = machine.add_card(0, "i915", "0000:03:00.0", "suspended");
  machine.write(card + "/gt/gt0/rps_act_freq_mhz", 600);
  Watch watch(machine);
  ASSERT_EQ(watch.found().entities.size(), 1U);
  EXPECT_EQ(watch.found().entities[0].state, DeviceState::asleep);
  EXPECT_FALSE(watch.source().changed());
  machine.write(card + "/device/power/runtime_status", "active\n");
  EXPECT_TRUE(watch.source().changed());
  watch.find();
  EXPECT_EQ(watch.read(kStart)[0], Outcome::unsupported);  // the last reader is for NPUs
  EXPECT_EQ(watch.row()[device_metric("clock_graphics_mhz")], Reading(600));
  // It falls asleep between two samples: the first reader notices, and nothing else is read.
  machine.write(card + "/device/power/runtime_status", "suspending\n");
  machine.write(card + "/gt/gt0/rps_act_freq_mhz", 1);
  EXPECT_EQ(watch.read(kStart + 1s)[0], Outcome::asleep);
  EXPECT_EQ(watch.row()[device_metric("clock_graphics_mhz")], Reading(600));
  SourceOptions options;
  options.wake = true;
  EXPECT_EQ(Watch(machine, options).found().entities[0].state, DeviceState::ok);
}

// Records which files of the watched folders are opened.
class OpenedFiles {
 public:
  void watch(const std::string &folder) {
    folders_[::inotify_add_watch(file_.get(), folder.c_str(), IN_OPEN)] = folder;
  }
  std::set<std::string> take() {
    std::set<std::string> names;
    alignas(inotify_event) std::array<char, 65536> buffer{};
    const auto got = ::read(file_.get(), buffer.data(), buffer.size());
    for (std::size_t at = 0; got > 0 && at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, &buffer[at], sizeof event);
      const std::string name = event.len > 0 ? &buffer[at + sizeof event] : "";
      if ((event.mask & IN_ISDIR) == 0)
        names.insert(folders_[event.wd].substr(folders_[event.wd].rfind('/') + 1) + "/" + name);
      at += sizeof event + event.len;
    }
    return names;
  }

 private:
  UniqueFd file_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  std::map<int, std::string> folders_;
};

TEST(IntelSource, NothingThatWouldWakeASleepingCardIsOpened) {
  const IntelMachine machine;
  const auto card = add_xe(machine, 1, "0000:0b:00.0");
  machine.write(card + "/device/current_link_speed", "2.5 GT/s PCIe\n");
  machine.write(card + "/device/current_link_width", "1\n");
  machine.write(card + "/device/power/runtime_status", "suspended\n");
  OpenedFiles opened;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(machine.files().path(card))) {
    if (entry.is_directory()) opened.watch(entry.path().string());
  }
  Watch watch(machine);
  watch.read(kStart);
  EXPECT_FALSE(watch.source().changed());
  // Files that the kernel answers from memory.
  EXPECT_EQ(opened.take(), (std::set<std::string>{"device/uevent", "power/runtime_status"}));
  machine.write(card + "/device/power/runtime_status", "active\n");
  opened.take();
  watch.find();
  watch.read(kStart);
  EXPECT_TRUE(opened.take().contains("hwmon4/energy2_input"));
}

TEST(IntelSource, CardThatFallsAsleepCostsTheOtherNothing) {
  const IntelMachine machine;
  const auto tile = add_xe(machine, 1, "0000:0b:00.0") + "/device/tile0";
  const auto other = machine.add_card(2, "i915", "0000:03:00.0");
  Watch watch(machine);
  ASSERT_EQ(watch.found().entities.size(), 2U);
  EXPECT_EQ(watch.found().entities[0].identity->pci, "0000:03:00.0");
  watch.read(kStart);
  machine.write(other + "/device/power/runtime_status", "suspended\n");
  EXPECT_TRUE(watch.source().changed());
  watch.find();
  machine.write(tile + "/gt0/gtidle/idle_residency_ms", 848'095 + 50);
  watch.read(kStart + 100ms);
  EXPECT_DOUBLE_EQ(watch.row(1)[kAwake].value(), 50);
}

TEST(IntelSource, BadFilesCostOnlyTheirOwnReadings) {
  const IntelMachine machine;
  const auto card = machine.add_card(0, "i915", "0000:03:00.0");
  machine.write(card + "/gt/gt0/rps_act_freq_mhz", "fast\n");
  machine.write(card + "/gt/gt0/rps_cur_freq_mhz", "627200\n");
  machine.write(card + "/gt/gt0/rps_RP0_freq_mhz", "2450\n");
  machine.write(card + "/gt/gt0/rc6_residency_ms", "-3\n");
  machine.write(card + "/gt/gt0/throttle_reason_status", "\n");
  const auto hwmon = card + "/device/hwmon/hwmon1";
  machine.write(hwmon + "/name", "i915\n");
  machine.write(hwmon + "/temp1_input", "999999999\n");
  machine.write(hwmon + "/energy1_input", "");
  machine.write(hwmon + "/fan1_input", std::string("1200\n\0\0", 7));
  machine.files().make_folder(hwmon + "/in0_input");
  Watch watch(machine);
  watch.read(kStart);
  const auto &row = watch.row();
  EXPECT_TRUE(row[device_metric("clock_graphics_mhz")].is(Reason::error));
  EXPECT_TRUE(row[device_metric("clock_requested_mhz")].is(Reason::out_of_range));
  EXPECT_EQ(row[device_metric("clock_max_graphics_mhz")], Reading(2450));
  EXPECT_TRUE(row[kAwake].is(Reason::error));
  EXPECT_TRUE(row[device_metric("throttle_reasons")].is(Reason::error));
  EXPECT_TRUE(row[kTemperature].is(Reason::out_of_range));
  EXPECT_TRUE(row[kPower].is(Reason::error));
  EXPECT_TRUE(row[kEnergy].is(Reason::error));
  EXPECT_EQ(row[device_metric("fan_speed_rpm")], Reading(1200));
  EXPECT_TRUE(row[device_metric("voltage_graphics_volts")].is(Reason::error));
  // A file that has disappeared.
  machine.files().remove(hwmon + "/fan1_input");
  watch.read(kStart + 1s);
  EXPECT_TRUE(row[device_metric("fan_speed_rpm")].is(Reason::not_supported));
}

TEST(IntelSource, NpuTellsItsTimeMemoryAndClock) {
  const IntelMachine machine;
  const std::string folder = "/sys/class/accel/accel0/device";
  machine.write(folder + "/uevent", "DRIVER=intel_vpu\nPCI_ID=8086:7D1D\nPCI_SLOT_NAME=0000:00:0b.0\n");
  machine.write(folder + "/npu_busy_time_us", 5'000'000);
  machine.write(folder + "/npu_memory_utilization", 73'400'320);
  machine.write(folder + "/freq/current_freq", 1400);
  machine.write(folder + "/npu_max_frequency_mhz", 1850);
  Watch watch(machine);
  ASSERT_EQ(watch.found().entities.size(), 1U);
  EXPECT_EQ(watch.found().entities[0].identity->uuid, "PCI-0000:00:0b.0");
  EXPECT_EQ(watch.found().entities[0].identity->name, "Intel Core Ultra 200H/200V Series Processors NPU");
  watch.read(kStart);
  EXPECT_TRUE(watch.row()[kUse].is(Reason::not_sampled));
  machine.write(folder + "/npu_busy_time_us", 5'350'000);
  watch.read(kStart + 1s);
  EXPECT_DOUBLE_EQ(watch.row()[kUse].value(), 35);
  EXPECT_EQ(watch.row()[device_metric("memory_used_bytes")], Reading(73'400'320));
  EXPECT_EQ(watch.row()[device_metric("clock_graphics_mhz")], Reading(1400));
  EXPECT_EQ(watch.row()[device_metric("clock_max_graphics_mhz")], Reading(1850));
}

}  // namespace
}  // namespace gpulse::intel
