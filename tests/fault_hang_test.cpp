// SPDX-License-Identifier: Apache-2.0
// Hangs every function that the source calls, on one of four devices and in every phase: the first answer comes in
// time, the other devices show fresh values, the hung one is named, an old value is never shown as new, and everything
// recovers once the call returns.
#include <gtest/gtest.h>

#include "sim/testing/sim_machine.hpp"
#include "source/host/host_source.hpp"
#include "source/nvml/fake_root.hpp"

namespace gpulse::test {
namespace {

constexpr auto kTemperature = device_metric("temperature_gpu_celsius");
constexpr auto kPower = device_metric("power_draw_watts");
constexpr auto kTopology = device_metric("topology");
constexpr int kHung = 1;

RunnerOptions hasty() {
  return {.call_deadline = 100ms, .discover_deadline = 200ms, .retry = 1ms, .check = 0ms, .tick = 1s};
}

std::unique_ptr<Sampler> with_host(bool events, const Sysroot &root = empty_root()) {
  std::vector<std::shared_ptr<Source>> sources{
      nvml::make_source(root, SourceOptions{.only = everything(), .events = events}),
      host::make_host_source(Sysroot())};
  auto options = hasty();
  options.only = everything();
  return std::make_unique<Sampler>(std::move(sources), root, options);
}

// Four devices whose power rises all the time.
std::string rising(Form form) {
  auto text = scenario(form) + full_device(63, 1, form == Form::newest) + full_device(64, 1, form == Form::newest);
  const std::string key = "\npower_w = ";
  for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    text.replace(at, text.find('\n', at + 1) - at, key + "{ steps = [[0, 1], [60, 6000]], linear = true }");
  }
  return text;
}

// Samples one machine, and expects of every sample that no value in it is one of the sample before.
class Watch {
 public:
  Watch(Form form, bool events) : sampler_(with_host(events, root_.sysroot())), form_(form) {}

  SnapshotPtr sample() {
    const auto begun = monotonic_now();
    auto now = sampler_->sample(Pass::everything);
    EXPECT_LT(monotonic_now() - begun, 3s);
    EXPECT_TRUE(now->host[host_metric("memory_total_bytes")].has_value());
    for (const auto &device : now->devices) {
      const auto power = device.row[kPower];
      EXPECT_EQ(power.has_value(), device.state == DeviceState::ok) << "GPU " << device.id.index;
      if (!power.has_value()) continue;
      EXPECT_GT(power.value(), last_[device.id.index]) << "GPU " << device.id.index << ": an old value";
      last_[device.id.index] = power.value();
    }
    return now;
  }
  template <class Wanted>
  SnapshotPtr sample_until(Wanted wanted) {
    for (const auto end = monotonic_now() + 20s;; std::this_thread::sleep_for(2ms)) {
      auto now = sample();
      if (wanted(*now) || monotonic_now() >= end) return now;
    }
  }
  // On a busy machine a healthy device may be set aside for a moment.
  bool recovers() {
    return all_are_well(*sample_until([](const Snapshot &now) { return all_are_well(now); }));
  }
  void look_for_devices() { root_.add_gpu("0000:77:00.0"); }
  Form form() const { return form_; }

  static bool all_are_well(const Snapshot &now) {
    return now.devices.size() == 4 && std::all_of(now.devices.begin(), now.devices.end(), is_well);
  }
  static bool is_well(const Device &device) {
    return device.state == DeviceState::ok && device.row[kPower].has_value();
  }
  static bool others_are_well(const Snapshot &now) {
    return now.devices.size() == 4 && std::all_of(now.devices.begin(), now.devices.end(), [](const Device &device) {
             return device.id.index == kHung || is_well(device);
           });
  }
  // Not responding as a whole, or in the one text that can be read apart from the rest.
  static bool is_named(const Device &device) {
    return (device.state == DeviceState::not_responding && device.row[kTemperature].is(Reason::not_responding)) ||
           device.identity->texts[kTopology] == TextReading(Reason::not_responding);
  }

 private:
  FakeRoot root_;
  std::unique_ptr<Sampler> sampler_;
  Form form_;
  std::map<std::uint32_t, double> last_;
};

enum class Phase { discovery, first_sample, watching };

// Asked of split devices only.
bool of_instances(std::string_view name) {
  return name.contains("Mig") || name.contains("InstanceId") || name.starts_with("nvmlGpuInstance") ||
         name.starts_with("nvmlComputeInstance");
}

class Hang : public testing::Test {
 protected:
  void TearDown() override { sim_clear(); }

  static void expect_hung(Watch &watch) {
    const auto wanted = [](const Snapshot &now) {
      return Watch::others_are_well(now) && Watch::is_named(now.devices[kHung]);
    };
    const auto now = watch.sample_until(wanted);
    ASSERT_EQ(now->devices.size(), 4U);
    EXPECT_TRUE(Watch::others_are_well(*now));
    EXPECT_TRUE(Watch::is_named(now->devices[kHung]));
  }

  // False when the source does not make the call in this phase with this variant of the driver.
  static bool tries(const std::string &name, Form form, Phase phase) {
    const bool events = of_events(name);
    sim_load(rising(form));
    if (phase == Phase::watching) {
      Watch watch(form, events);
      if (!watch.recovers()) ADD_FAILURE() << "not even without a fault";
      sim_clear();
      sim_fault(name, kHung, -1);
      std::this_thread::sleep_for(of_gpm(name) ? 100ms : 0ms);
      watch.sample();
      if (sim_calls(name) == 0) watch.look_for_devices();
      // Before it looks for devices, the source lets go of the events.
      const auto end = monotonic_now() + (events ? 10s : 0s);
      for (int i = 0; (i < 3 || monotonic_now() < end) && sim_calls(name) == 0; ++i) watch.sample();
      if (sim_calls(name) == 0) return false;
      expect_hung(watch);
      sim_clear();
      EXPECT_TRUE(watch.recovers());
      return true;
    }
    if (phase == Phase::first_sample) {
      sim_load(rising(form) + "[[fault]]\ncall = \"" + name + "\"\ndevice = 1\nhang = true\nafter_calls = 1\n");
    } else {
      sim_fault(name, kHung, -1);
    }
    Watch watch(form, events);
    watch.sample();
    if (of_gpm(name)) {
      std::this_thread::sleep_for(100ms);
      watch.sample();
    }
    if (sim_calls(name) == 0) return false;
    if (phase == Phase::discovery) {
      expect_hung(watch);
    } else {  // not every device makes a second call
      const auto now = watch.sample_until(Watch::others_are_well);
      EXPECT_TRUE(Watch::others_are_well(*now));
    }
    sim_clear();
    EXPECT_TRUE(watch.recovers());
    return true;
  }

  static void try_all(Phase phase) {
    for (const auto &name : source_functions()) {
      if (of_the_library(name) || of_instances(name) || name.contains("PciBusId")) continue;  // tested below
      SCOPED_TRACE(name);
      EXPECT_TRUE(tries(name, Form::newest, phase) || tries(name, Form::older, phase) ||
                  tries(name, Form::wide_rows, phase));
    }
  }
};

TEST_F(Hang, OfOneDeviceDuringDiscovery) { try_all(Phase::discovery); }
TEST_F(Hang, OfOneDeviceInItsFirstSample) { try_all(Phase::first_sample); }
TEST_F(Hang, OfOneDeviceWhileItIsWatched) { try_all(Phase::watching); }

// It concerns all devices: none of them shows a value, and the source says why.
TEST_F(Hang, OfTheWholeDriver) {
  for (const auto &name : source_functions()) {
    if (!of_the_library(name) || of_events(name) || name == "nvmlShutdown" || of_gpm(name)) continue;
    for (const auto form : {Form::newest, Form::older}) {
      SCOPED_TRACE(name);
      sim_load(rising(form));
      sim_fault(name, -1, -1);
      Watch watch(form, false);
      const auto now = watch.sample();
      if (sim_calls(name) == 0) continue;
      if (name == "nvmlSystemGetProcessName") {  // of two devices that have processes
        ASSERT_EQ(now->devices.size(), 4U);
        for (const auto i : {0U, 1U}) EXPECT_EQ(now->devices[i].state, DeviceState::not_responding);
      } else {
        EXPECT_TRUE(now->sources[0].problem.contains("not responding")) << now->sources[0].problem;
        EXPECT_TRUE(now->devices.empty());
      }
      sim_clear();
      EXPECT_TRUE(watch.recovers());
    }
  }
}

TEST_F(Hang, OfTheWholeDriverWhileItIsWatched) {
  sim_load(rising(Form::newest));
  Watch watch(Form::newest, false);
  EXPECT_TRUE(watch.recovers());
  sim_fault("nvmlDeviceGetCount_v2", -1, -1);
  const auto now = watch.sample();
  EXPECT_TRUE(now->sources[0].problem.contains("not responding"));
  ASSERT_EQ(now->devices.size(), 4U);
  for (const auto &device : now->devices) EXPECT_EQ(device.state, DeviceState::not_responding);
  sim_clear();
  EXPECT_TRUE(watch.recovers());
}

// The deadlines of all devices run side by side.
TEST_F(Hang, OfManyDevicesTakesNoLongerThanOfOne) {
  sim_load("[[device]]\nprofile = \"h100\"\ncount = 128\n");
  for (const auto *name : {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetBrand", "nvmlDeviceGetPowerUsage"}) {
    SCOPED_TRACE(name);
    sim_fault(name, -1, -1);
    const auto sampler = with_host(false);
    const auto begun = monotonic_now();
    const auto now = sampler->sample(Pass::everything);
    EXPECT_LT(monotonic_now() - begun, 5s) << "one after the other they would take 13 s";
    ASSERT_EQ(now->devices.size(), 128U);
    for (const auto &device : now->devices) EXPECT_EQ(device.state, DeviceState::not_responding) << device.id.index;
    sim_clear();
  }
}

// Found under its proper name later, it keeps its place.
TEST_F(Hang, OfADeviceThatNeverToldItsNameLeavesNoGhost) {
  sim_load(rising(Form::newest));
  sim_fault("nvmlDeviceGetHandleByIndex_v2", kHung, -1);
  Watch watch(Form::newest, false);
  const auto before = watch.sample();
  ASSERT_EQ(before->devices.size(), 4U);
  EXPECT_EQ(before->devices[kHung].identity->uuid, "INDEX-1");
  sim_clear();
  EXPECT_TRUE(watch.recovers());
  const auto after = watch.sample();
  ASSERT_EQ(after->devices.size(), 4U);
  EXPECT_EQ(after->devices[kHung].id.index, 1U);
  EXPECT_TRUE(after->devices[kHung].identity->uuid.starts_with("GPU-"));
}

TEST_F(Hang, AtTheEndHoldsUpNothing) {
  for (const auto *name : {"nvmlShutdown", "nvmlGpmSampleFree"}) {
    SCOPED_TRACE(name);
    sim_load(rising(Form::newest));
    auto watch = std::make_unique<Watch>(Form::newest, false);
    EXPECT_TRUE(watch->recovers());
    sim_fault(name, -1, -1);
    const auto begun = monotonic_now();
    watch.reset();
    EXPECT_LT(monotonic_now() - begun, 3s);
    EXPECT_GT(sim_calls(name), 0U);
    sim_clear();
  }
}

TEST_F(Hang, InTheEventsHoldsUpNothing) {
  for (const auto *name : {"nvmlEventSetWait_v2", "nvmlEventSetFree"}) {
    SCOPED_TRACE(name);
    sim_load(rising(Form::newest));
    sim_fault(name, -1, -1);
    auto watch = std::make_unique<Watch>(Form::newest, true);
    EXPECT_TRUE(watch->recovers());
    const auto begun = monotonic_now();
    watch.reset();
    EXPECT_LT(monotonic_now() - begun, 3s);
    sim_clear();
  }
  sim_load(rising(Form::newest));
  sim_fault("nvmlEventSetCreate", -1, -1);
  Watch watch(Form::newest, true);
  EXPECT_TRUE(watch.sample()->sources[0].problem.contains("not responding"));
  sim_clear();
  EXPECT_TRUE(watch.recovers());
}

TEST_F(Hang, InTheListOfExcludedDevices) {
  sim_load("[driver]\nexcluded = 1\n[[device]]\nprofile = \"h100\"\n");
  for (const auto *name : {"nvmlInit_v2", "nvmlGetExcludedDeviceCount", "nvmlGetExcludedDeviceInfoByIndex"}) {
    SCOPED_TRACE(name);
    sim_fault(name, -1, -1);
    std::vector<std::shared_ptr<Source>> sources{
        nvml::make_source(empty_root(), SourceOptions{.events = false, .excluded_only = true})};
    Sampler sampler(std::move(sources), empty_root(), hasty());
    const auto begun = monotonic_now();
    EXPECT_TRUE(sampler.sample(Pass::everything)->sources[0].problem.contains("not responding"));
    EXPECT_LT(monotonic_now() - begun, 3s);
    sim_clear();
    SnapshotPtr now;
    for (const auto end = monotonic_now() + 10s; monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
      now = sampler.sample(Pass::everything);
      if (now->sources[0].excluded.size() == 1) break;
    }
    EXPECT_EQ(now->sources[0].excluded.size(), 1U);
    EXPECT_TRUE(now->devices.empty());
  }
}

TEST_F(Hang, OfAnInstanceLeavesItsParentAndTheOthers) {
  sim_load(scenario(Form::split));
  auto sampler = with_host(false);
  for (const auto end = monotonic_now() + 10s; monotonic_now() < end;) {
    if (sampler->sample(Pass::everything)->devices.size() == 5) break;
  }
  sim_fault("nvmlGpmMigSampleGet", 0, -1);
  std::this_thread::sleep_for(100ms);
  SnapshotPtr now;
  for (int attempt = 0; attempt < 3; ++attempt) {
    now = sampler->sample(Pass::everything);
    ASSERT_EQ(now->devices.size(), 5U);
    if (now->devices.back().state == DeviceState::ok) break;
  }
  EXPECT_EQ(now->devices.back().row[kTemperature], Reading(61.0));
  for (const auto &device : now->devices)
    EXPECT_EQ(device.state, device.is_instance() ? DeviceState::not_responding : DeviceState::ok);
  sim_clear();
  bool back = false;
  for (const auto end = monotonic_now() + 10s; !back && monotonic_now() < end; std::this_thread::sleep_for(2ms)) {
    now = sampler->sample(Pass::everything);
    back = std::all_of(now->devices.begin(), now->devices.end(),
                       [](const Device &device) { return device.state == DeviceState::ok; });
  }
  EXPECT_TRUE(back);
}

// What is inside a split device is asked for by a command that shows it.
TEST_F(Hang, InsideASplitDevice) {
  for (const auto &name : source_functions()) {
    if (!name.starts_with("nvmlGpuInstance") && !name.starts_with("nvmlComputeInstance")) continue;
    SCOPED_TRACE(name);
    sim_load(
        "[driver]\nsetters = \"anyone\"\n[[device]]\nprofile = \"h100\"\nmig = [{ profile = \"3g.40gb\", gi = 1, ci = "
        "0, "
        "memory_total_mib = 40448, compute_slices = 3 }]\n[[device]]\nprofile = \"h200\"\n");
    sim_fault(name, 0, -1);
    const auto sampler = make_sampler_of({detail_metric("compute_instance_count"), kTemperature}, hasty());
    const auto now = sampler->sample(Pass::everything);
    ASSERT_GE(now->devices.size(), 2U);
    EXPECT_GT(sim_calls(name), 0U);
    EXPECT_EQ(now->devices[0].state, DeviceState::not_responding);
    EXPECT_EQ(now->devices[1].state, DeviceState::ok);
    sim_clear();
  }
}

}  // namespace
}  // namespace gpulse::test
