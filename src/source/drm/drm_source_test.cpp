// SPDX-License-Identifier: Apache-2.0
#include "source/drm/drm_source.hpp"

#include <gtest/gtest.h>

#include "source/drm/fake_clients.hpp"

namespace gpulse::drm {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRenderNode = "/dev/dri/renderD128";
constexpr auto kUse = device_metric("gpu_utilization_percent");
constexpr auto kRender = device_metric("render_utilization_percent");
constexpr auto kCompute = device_metric("compute_utilization_percent");
constexpr auto kCopy = device_metric("copy_utilization_percent");
constexpr auto kClock = device_metric("clock_graphics_mhz");

class DrmSourceTest : public testing::Test {
 protected:
  void add_card(std::string_view uevent, std::string_view status = "active") const {
    write("uevent", uevent);
    write("drm/renderD128/dev", "226:128\n");
    write("power/runtime_status", std::string(status) + "\n");
  }
  void write(std::string_view file, std::string_view text) const {
    machine_.folder().write(device_ + std::string(file), text);
  }
  Found find(const SourceOptions &options = {}) {
    source_ = make_source(machine_.root(), options, std::make_shared<DeviceUsers>(machine_.root()));
    auto found = source_->discover();
    EXPECT_EQ(found.problem, "");
    if (found.entities.size() == 1) return found.entities[0];
    ADD_FAILURE() << found.entities.size() << " devices";
    return {};
  }
  // Calls all readers in their order, as the sampler does; returns the outcome of the first.
  Outcome sample(std::chrono::nanoseconds after) {
    now_ += after;
    for (std::size_t i = 0; i < source_->readers().size(); ++i) {
      const auto outcome = source_->read(0, i, now_, frame_);
      if (outcome == Outcome::asleep) return outcome;
    }
    return Outcome::ok;
  }

  FakeClients machine_;
  const std::string device_ = "/sys/class/drm/card0/device/";
  std::unique_ptr<Source> source_;
  Frame frame_{Row(Scope::device), {}};
  Monotonic now_{1h};
};

TEST_F(DrmSourceTest, AMachineWithoutSuchDevicesIsNormal) {
  add_card("DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
  const auto found = make_source(machine_.root(), {}, std::make_shared<DeviceUsers>(machine_.root()))->discover();
  EXPECT_TRUE(found.entities.empty());
  EXPECT_EQ(found.problem, "");
}

TEST_F(DrmSourceTest, TellsTheQueuesOfARaspberryPi) {
  const auto table = [](int at, int bin, int render, int csd) {
    return fmt::format(
        "queue\ttimestamp\tjobs\truntime\nbin\t{0}\t1\t{1}\nrender\t{0}\t1\t{2}\ntfu\t{0}\t0\t0\n"
        "csd\t{0}\t1\t{3}\ncache_clean\t{0}\t9\t999\n",
        at, bin, render, csd);
  };
  add_card("DRIVER=v3d\nOF_COMPATIBLE_0=brcm,2712-v3d\n", "suspended");
  write("gpu_stats", table(1000, 100, 200, 0));
  const auto found = find();
  EXPECT_EQ(found.state, DeviceState::ok);  // suspended between two frames, but not asleep
  EXPECT_EQ(found.identity->name, "Broadcom 2712 V3D");
  EXPECT_EQ(found.identity->vendor, "broadcom");
  EXPECT_EQ(found.identity->driver, "v3d");
  EXPECT_EQ(sample(0s), Outcome::ok);
  EXPECT_TRUE(frame_.row[kRender].is(Reason::not_sampled));
  write("gpu_stats", table(2000, 300, 900, 850));
  sample(1s);
  EXPECT_EQ(frame_.row[kRender], Reading(70));  // 700 of 1000; the binner's 200 are less
  EXPECT_EQ(frame_.row[kCompute], Reading(85));
  EXPECT_EQ(frame_.row[kCopy], Reading(0));
  EXPECT_EQ(frame_.row[kUse], Reading(85));
}

TEST_F(DrmSourceTest, AMaliThatDoesNotCountIsNotIdle) {
  const auto text = [](int ns) {
    return fmt::format(
        "drm-driver:\tpanfrost\ndrm-client-id:\t3\ndrm-engine-fragment:\t{} ns\ndrm-resident-memory:\t1 MiB\n", ns);
  };
  add_card("DRIVER=panfrost\nOF_COMPATIBLE_0=rockchip,rk3568-mali\n");
  write("profiling", "0\n");
  write("devfreq/fde60000.gpu/cur_freq", "200000000\n");
  write("devfreq/fde60000.gpu/max_freq", "800000000\n");
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, text(0));
  EXPECT_EQ(find().identity->vendor, "arm");
  sample(0s);
  sample(1s);
  EXPECT_TRUE(frame_.row[kRender].is(Reason::no_permission));
  EXPECT_TRUE(frame_.row[kUse].is(Reason::no_permission));
  ASSERT_EQ(frame_.processes.size(), 1U);
  EXPECT_TRUE(frame_.processes[0].row[process_metric("gpu_utilization_percent")].is(Reason::no_permission));
  EXPECT_EQ(frame_.processes[0].row[process_metric("gpu_memory_bytes")], Reading(1 << 20));
  EXPECT_EQ(frame_.row[kClock], Reading(200));
  EXPECT_EQ(frame_.row[device_metric("clock_max_graphics_mhz")], Reading(800));
  // The administrator lets it count.
  write("profiling", "1\n");
  machine_.tell(100, 7, text(400000000));
  sample(1s);
  EXPECT_EQ(frame_.row[kUse], Reading(40));
}

TEST_F(DrmSourceTest, AQualcommsClockLiesBesideTheCard) {
  add_card("DRIVER=msm_dpu\nOF_COMPATIBLE_0=qcom,sdm845-dpu\n");
  machine_.folder().write("/sys/class/devfreq/5000000.gpu/cur_freq", "257000000\n");
  machine_.folder().write("/sys/class/devfreq/1d84000.ufshc/cur_freq", "1000000\n");
  EXPECT_EQ(find().identity->name, "Qualcomm Adreno");
  sample(0s);
  EXPECT_EQ(frame_.row[kClock], Reading(257));
}

TEST_F(DrmSourceTest, TellsTheSensorsOfANouveau) {
  add_card("DRIVER=nouveau\nPCI_ID=10DE:1187\nPCI_SLOT_NAME=0000:01:00.0\n");
  for (const auto &[file, text] : {std::pair{"name", "nouveau\n"},
                                   {"temp1_input", "41000\n"},
                                   {"temp1_max", "95000\n"},
                                   {"temp1_emergency", "135000\n"},
                                   {"fan1_input", "1230\n"},
                                   {"pwm1", "30\n"},
                                   {"in0_input", "875\n"},
                                   {"power1_input", "17250000\n"}}) {
    write("hwmon/hwmon2/" + std::string(file), text);
  }
  const auto found = find();
  EXPECT_EQ(found.identity->vendor, "nvidia");
  EXPECT_EQ(found.identity->uuid, "PCI-0000:01:00.0");
  sample(0s);
  for (const auto &[metric, value] : {std::pair{device_metric("temperature_gpu_celsius"), 41.0},
                                      {device_metric("temperature_slowdown_celsius"), 95.0},
                                      {device_metric("temperature_shutdown_celsius"), 135.0},
                                      {device_metric("fan_speed_rpm"), 1230.0},
                                      {device_metric("fan_speed_percent"), 30.0},
                                      {device_metric("voltage_graphics_volts"), 0.875},
                                      {device_metric("power_draw_watts"), 17.25}}) {
    EXPECT_EQ(frame_.row[metric], Reading(value)) << describe(metric).key;
  }
  EXPECT_TRUE(frame_.row[kUse].is(Reason::not_supported));
}

TEST_F(DrmSourceTest, LeavesASleepingCardAlone) {
  add_card("DRIVER=nouveau\nPCI_ID=10DE:1187\nPCI_SLOT_NAME=0000:01:00.0\n", "suspended");
  EXPECT_EQ(find().state, DeviceState::asleep);
  EXPECT_EQ(sample(0s), Outcome::asleep);
  EXPECT_FALSE(source_->changed());
  write("power/runtime_status", "active\n");
  EXPECT_TRUE(source_->changed());
  write("power/runtime_status", "suspended\n");
  SourceOptions wake;
  wake.wake = true;
  EXPECT_EQ(find(wake).state, DeviceState::ok);
  EXPECT_EQ(sample(0s), Outcome::ok);
}

TEST_F(DrmSourceTest, FindsAnNpuByItsClients) {
  const std::string folder = "/sys/class/accel/accel0/device/";
  machine_.folder().write(folder + "uevent", "DRIVER=amdxdna\nPCI_ID=1022:17F0\nPCI_SLOT_NAME=0000:c5:00.1\n");
  const auto text = [](int ns) {
    return fmt::format("drm-driver:\tamdxdna_accel_driver\ndrm-client-id:\t1\ndrm-engine-npu-amdxdna:\t{} ns\n", ns);
  };
  machine_.start(100, 1);
  machine_.open(100, 5, "/dev/accel/accel0", text(0));
  EXPECT_EQ(find().identity->vendor, "amd");
  sample(0s);
  machine_.tell(100, 5, text(150000000));
  sample(500ms);
  EXPECT_EQ(frame_.row[kCompute], Reading(30));
  EXPECT_EQ(frame_.row[kUse], Reading(30));
}

TEST_F(DrmSourceTest, TellsTheClocksOfAGaudiInEitherClass) {
  for (const std::string where : {"/sys/class/habanalabs/hl0/", "/sys/class/accel/accel0/device/"}) {
    const auto device = where.ends_with("device/") ? where : where + "device/";
    machine_.folder().write(device + "uevent", "DRIVER=habanalabs\nPCI_ID=1DA3:1020\nPCI_SLOT_NAME=0000:19:00.0\n");
    machine_.folder().write(where + "clk_cur_freq_mhz", "800\n");
    machine_.folder().write(where + "clk_max_freq_mhz", "1650\n");
    machine_.folder().write(where + "max_power", "600000\n");
    EXPECT_EQ(find().identity->vendor, "habana");  // one, though both classes may show it
    sample(1s);
    EXPECT_EQ(frame_.row[kClock], Reading(800));
    EXPECT_EQ(frame_.row[device_metric("clock_max_graphics_mhz")], Reading(1650));
    EXPECT_EQ(frame_.row[device_metric("power_limit_watts")], Reading(600));
  }
}

TEST_F(DrmSourceTest, RefusesTextThatIsNoNumber) {
  add_card("DRIVER=lima\nOF_COMPATIBLE_0=allwinner,sun50i-a64-mali\n");
  write("devfreq/1c40000.gpu/cur_freq", "fast\n");
  write("gpu_stats", "garbage\n");
  find();
  sample(0s);
  EXPECT_TRUE(frame_.row[kClock].is(Reason::error));
  EXPECT_TRUE(frame_.row[kRender].is(Reason::not_supported));
}

}  // namespace

}  // namespace gpulse::drm
