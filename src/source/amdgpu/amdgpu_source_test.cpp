// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/amdgpu_source.hpp"

#include <gtest/gtest.h>

#include "source/amdgpu/fake_card.hpp"

namespace gpulse::amdgpu {

namespace {

constexpr auto kBusy = device_metric("gpu_utilization_percent");
constexpr auto kTemperature = device_metric("temperature_gpu_celsius");
constexpr auto kHotspot = device_metric("temperature_hotspot_celsius");
constexpr auto kMemoryTemperature = device_metric("temperature_memory_celsius");
constexpr auto kUsed = device_metric("memory_used_bytes");
constexpr auto kTotal = device_metric("memory_total_bytes");
constexpr auto kPower = device_metric("power_draw_watts");
constexpr auto kClock = device_metric("clock_graphics_mhz");
constexpr auto kFan = device_metric("fan_speed_percent");
constexpr auto kThrottle = device_metric("throttle_reasons");

// A busy card, which every test starts from.
struct BusyCard : FakeCard {
  explicit BusyCard(std::string_view product = "73BF") : FakeCard(product) {
    write("gpu_busy_percent", "42\n");
    write("mem_info_vram_used", "1073741824\n");
    write("mem_info_vram_total", "17163091968\n");
    sensor("temp1_input", "56000");
    sensor("temp1_label", "edge");
    sensor("temp2_input", "61000");
    sensor("temp2_label", "junction");
    sensor("temp2_crit", "110000");
    sensor("power1_average", "180000000");
    sensor("freq1_input", "2100000000");
  }
};

void expect_the_rest_is_right(const Sampled &sampled) {
  EXPECT_EQ(sampled[kBusy], Reading(42));
  EXPECT_EQ(sampled[kUsed], Reading(1073741824));
  EXPECT_EQ(sampled[kTemperature], Reading(56));
  EXPECT_EQ(sampled[kPower], Reading(180));
  EXPECT_EQ(sampled[kClock], Reading(2100));
}

TEST(AmdCard, IsReadFromItsFiles) {
  const BusyCard card;
  card.write("unique_id", "946d7e1ef9b172dd\n");
  Sampled sampled(card);
  ASSERT_EQ(sampled.found.entities.size(), 1U);
  EXPECT_TRUE(sampled.found.problem.empty());
  const auto &identity = *sampled.found.entities[0].identity;
  EXPECT_EQ(identity.uuid, "GPU-946d7e1ef9b172dd");
  EXPECT_EQ(identity.pci, "0000:03:00.0");
  EXPECT_EQ(identity.vendor, "amd");
  EXPECT_EQ(identity.name, "AMD Radeon RX 6800/6800 XT / 6900 XT");
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_EQ(sampled[kHotspot], Reading(61));
  EXPECT_EQ(sampled[device_metric("memory_free_bytes")], Reading(16089350144));
  EXPECT_TRUE(sampled[kFan].is(Reason::not_sampled) || sampled[kFan].is(Reason::not_supported));
}

TEST(AmdCard, WithoutUniqueNumberGoesByItsPlace) {
  const BusyCard card;
  card.write("unique_id", "\n");
  EXPECT_EQ(Sampled(card).found.entities[0].identity->uuid, "PCI-0000:03:00.0");
}

TEST(AmdMachine, WithoutCardsIsNoProblem) {
  const TemporaryFolder empty;
  const auto found = make_source(empty.root(), {}, std::make_shared<drm::DeviceUsers>(empty.root()))->discover();
  EXPECT_TRUE(found.entities.empty());
  EXPECT_TRUE(found.problem.empty());
}

TEST(AmdMachine, OfAnotherVendorHasNothingForUs) {
  EXPECT_TRUE(Sampled(FakeCard("56A5", "xe")).found.entities.empty());
}

// Bad input affects its own reading only.

TEST(AmdBadInput, ACutOffTable) {
  const BusyCard card;
  card.write("gpu_metrics", Table(120, 1, 3).u16(14, 44).bytes().substr(0, 60));
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_TRUE(sampled[device_metric("temperature_vr_memory_celsius")].is(Reason::error));
  EXPECT_TRUE(sampled[kThrottle].is(Reason::error));
}

TEST(AmdBadInput, ATableOfAnUnknownKind) {
  const BusyCard card;
  card.write("gpu_metrics", Table(512, 1, 77).bytes());
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_TRUE(sampled[kThrottle].is(Reason::error));
}

TEST(AmdBadInput, ATableThatTurnsBad) {
  const BusyCard card;
  card.write("gpu_metrics", Table(120, 1, 3).u16(14, 44).bytes());
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[device_metric("temperature_vr_memory_celsius")], Reading(44));
  card.write("gpu_metrics", "");
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_TRUE(sampled[device_metric("temperature_vr_memory_celsius")].is(Reason::not_supported));
}

TEST(AmdBadInput, AFileThatVanishes) {
  const BusyCard card;
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  card.remove("hwmon/hwmon3/temp2_input");
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_TRUE(sampled[kHotspot].is(Reason::not_supported));
}

TEST(AmdBadInput, AFileThatRefuses) {
  const BusyCard card;
  card.spoil("hwmon/hwmon3/temp2_input");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_TRUE(sampled[kHotspot].is(Reason::error));
}

TEST(AmdBadInput, NumbersThatCannotBe) {
  const BusyCard card;
  card.sensor("temp2_input", "99999000");
  card.write("mem_busy_percent", "655\n");
  card.write("mem_info_gtt_used", "18446744073709551000\n");
  card.write("mem_info_gtt_total", "17163091968\n");
  card.write("vcn_busy_percent", "twelve\n");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_TRUE(sampled[kHotspot].is(Reason::out_of_range));
  EXPECT_TRUE(sampled[device_metric("memory_utilization_percent")].is(Reason::out_of_range));
  EXPECT_TRUE(sampled[device_metric("memory_gtt_used_bytes")].is(Reason::out_of_range));
  EXPECT_TRUE(sampled[device_metric("video_utilization_percent")].is(Reason::error));
}

TEST(AmdBadInput, MoreMemoryInUseThanThereIs) {
  const BusyCard card;
  card.write("mem_info_vram_used", "98000000000\n");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_TRUE(sampled[kUsed].is(Reason::out_of_range));
  EXPECT_TRUE(sampled[device_metric("memory_free_bytes")].is(Reason::out_of_range));
  EXPECT_EQ(sampled[kTotal], Reading(17163091968));
}

// Runtime power management.

TEST(AmdSleep, IsSeenBeforeAnythingIsRead) {
  const BusyCard card;
  card.write("power/runtime_status", "suspended\n");
  Sampled sampled(card);
  EXPECT_EQ(sampled.found.entities[0].state, DeviceState::asleep);
  EXPECT_FALSE(sampled.sample());
  EXPECT_TRUE(sampled[kBusy].is(Reason::not_sampled));
}

TEST(AmdSleep, EndsWhereSomebodyAsksForIt) {
  const BusyCard card;
  card.write("power/runtime_status", "suspended\n");
  Sampled sampled(card, {.wake = true});
  EXPECT_EQ(sampled.found.entities[0].state, DeviceState::ok);
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
}

TEST(AmdSleep, ThatComesBetweenTwoReadsIsNoError) {
  const BusyCard card;
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  Frame frame{Row(Scope::device), {}};
  card.spoil("gpu_busy_percent");
  card.write("power/runtime_status", "suspended\n");
  const auto infos = sampled.source().readers();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].call != "gpu_busy_percent") continue;
    EXPECT_EQ(sampled.source().read(0, i, monotonic_now(), frame), Outcome::asleep);
  }
}

TEST(AmdSleep, AndWakingAreChanges) {
  const BusyCard card;
  Sampled sampled(card);
  EXPECT_FALSE(sampled.source().changed());
  card.write("power/runtime_status", "suspended\n");
  EXPECT_TRUE(sampled.source().changed());
  sampled.source().discover();
  EXPECT_FALSE(sampled.source().changed());
}

// Differences between cards.

TEST(AmdMemory, OfAProcessorWithGraphicsIsBothItsParts) {
  FakeCard card("15BF");
  card.sensor("in1_input", "615");
  card.sensor("in1_label", "vddnb");
  card.write("mem_info_vram_used", "1000\n");
  card.write("mem_info_vram_total", "4000\n");
  card.write("mem_info_gtt_used", "200\n");
  card.write("mem_info_gtt_total", "60000\n");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kUsed], Reading(1200));
  EXPECT_EQ(sampled[kTotal], Reading(64000));
  EXPECT_EQ(sampled[device_metric("memory_vram_used_bytes")], Reading(1000));
  EXPECT_EQ(sampled[device_metric("memory_gtt_total_bytes")], Reading(60000));
  EXPECT_EQ(sampled[device_metric("voltage_soc_volts")], Reading(0.615));
}

TEST(AmdTemperature, OfAChipWithoutEdgeSensorIsThatOfItsHottestPoint) {
  FakeCard card("74A1");
  card.sensor("temp2_input", "47000");
  card.sensor("temp2_label", "junction");
  card.sensor("temp2_crit", "100000");
  card.sensor("temp3_input", "0");
  card.sensor("temp3_label", "mem");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kTemperature], Reading(47));
  EXPECT_EQ(sampled[kHotspot], Reading(47));
  EXPECT_EQ(sampled[device_metric("temperature_slowdown_celsius")], Reading(100));
  EXPECT_TRUE(sampled[kMemoryTemperature].is(Reason::not_supported)) << "no memory is at 0 °C";
}

TEST(AmdSensors, ThatTheCardLacksAreNotAtZero) {
  BusyCard card;
  card.sensor("temp3_input", "0");
  card.sensor("temp3_label", "mem");
  card.sensor("in0_input", "0");
  card.sensor("in0_label", "vddgfx");
  card.sensor("in1_input", "0");
  card.sensor("in1_label", "vddnb");
  card.sensor("temp1_emergency", "0");
  card.sensor("fan1_input", "0");
  // v1_3: regulators' temperatures at 10, 12 and 14, voltages at 104, 106 and 108.
  auto table = Table(120, 1, 3).u16(10, 0).u16(12, 0).u16(14, 51).u16(104, 0).u16(106, 0).u16(108, 0);
  card.write("gpu_metrics", table.bytes());
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  for (const auto id : {kMemoryTemperature, device_metric("temperature_vr_graphics_celsius"),
                        device_metric("temperature_vr_soc_celsius"), device_metric("voltage_graphics_volts"),
                        device_metric("voltage_soc_volts"), device_metric("voltage_memory_volts"),
                        device_metric("temperature_shutdown_celsius")}) {
    EXPECT_TRUE(sampled[id].is(Reason::not_supported)) << describe(id).key;
  }
  EXPECT_EQ(sampled[device_metric("temperature_vr_memory_celsius")], Reading(51));
  EXPECT_EQ(sampled[device_metric("fan_speed_rpm")], Reading(0)) << "a fan that stands still is at 0";
  expect_the_rest_is_right(sampled);
}

TEST(AmdSensors, ThatHaveWorkedMayBeAtZero) {
  BusyCard card;
  card.sensor("in0_input", "775");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  card.sensor("in0_input", "0");
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[device_metric("voltage_graphics_volts")], Reading(0)) << "switched off to save power";
}

TEST(AmdPower, IsTheMomentWhereThereIsNoMean) {
  FakeCard card;
  card.sensor("power1_input", "3142000");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kPower], Reading(3.142));
  EXPECT_EQ(sampled[device_metric("power_instant_watts")], Reading(3.142));
  EXPECT_TRUE(sampled[device_metric("power_average_watts")].is(Reason::not_supported));
}

TEST(AmdFan, ThatTurnsIsNotAtZeroPercent) {
  FakeCard card;
  card.sensor("pwm1", "0");
  card.sensor("fan1_input", "1395");
  card.sensor("fan1_max", "3100");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kFan], Reading(45));
  card.sensor("fan1_input", "0");
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kFan], Reading(0));
  card.sensor("pwm1", "51");
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kFan], Reading(20));
}

TEST(AmdClock, IsTheMarkedLevelWhereThereIsNoSensor) {
  FakeCard card;
  card.write("pp_dpm_sclk", "0: 200Mhz *\n1: 1100Mhz \n2: 1600Mhz \n");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kClock], Reading(200));
  EXPECT_EQ(sampled[device_metric("clock_max_graphics_mhz")], Reading(1600));
  card.write("pp_dpm_sclk", "0: 200Mhz \n1: 1100Mhz *\n2: 1600Mhz \n");
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kClock], Reading(1100));
}

TEST(AmdTraffic, IsMessagesTimesTheirLargestSize) {
  const BusyCard card;
  card.write("pcie_bw", "11886 2528 256\n");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[device_metric("pcie_rx_bytes_per_second")], Reading(3042816));
  EXPECT_EQ(sampled[device_metric("pcie_tx_bytes_per_second")], Reading(647168));
  card.write("pcie_bw", "");
  ASSERT_TRUE(sampled.sample());
  EXPECT_TRUE(sampled[device_metric("pcie_rx_bytes_per_second")].is(Reason::not_supported));
}

TEST(AmdErrors, AreSummedOverTheBlocksOfTheChip) {
  const BusyCard card;
  card.write("ras/umc_err_count", "ue: 1\nce: 20\n");
  card.write("ras/gfx_err_count", "ue: 2\nce: 300\n");
  card.write("ras/features", "feature mask: 0x1\n");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[device_metric("ecc_corrected_volatile_total")], Reading(320));
  EXPECT_EQ(sampled[device_metric("ecc_uncorrected_volatile_total")], Reading(3));
  EXPECT_EQ(sampled[device_metric("ecc_dram_corrected_volatile_total")], Reading(20));
  EXPECT_EQ(sampled[device_metric("ecc_dram_uncorrected_volatile_total")], Reading(1));
}

// The metrics table.

TEST(AmdTable, NeverOverridesAFileOfItsOwn) {
  const BusyCard card;
  card.write("gpu_metrics", Table(120, 1, 3).u16(4, 99).u16(16, 99).u16(22, 999).u16(54, 9).u16(104, 818).bytes());
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  ASSERT_TRUE(sampled.sample());
  expect_the_rest_is_right(sampled);
  EXPECT_DOUBLE_EQ(sampled[device_metric("voltage_soc_volts")].value_or(0), 0.818);
}

TEST(AmdTable, StandsInForFilesThatAreMissing) {
  FakeCard card("74A1");
  card.write("gpu_metrics", Table(288, 1, 4).u16(4, 71).u16(10, 748).u16(12, 97).u16(240, 2100).bytes());
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kTemperature], Reading(71));
  EXPECT_EQ(sampled[kHotspot], Reading(71));
  EXPECT_EQ(sampled[kPower], Reading(748));
  EXPECT_EQ(sampled[kBusy], Reading(97));
  card.write("gpu_metrics", Table(288, 1, 4).u16(4, 72).u16(10, 500).u16(12, 96).u16(240, 2000).bytes());
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kTemperature], Reading(72));
  EXPECT_EQ(sampled[kPower], Reading(500));
  EXPECT_EQ(sampled[kBusy], Reading(96));
}

TEST(AmdEnergy, IsCountedIn65536thsOfAJouleOnDataCentreChipsOnly) {
  FakeCard mi300("74A1");
  mi300.write("gpu_metrics", Table(288, 1, 4).u64(24, 65536ULL * 1234 + 32768).bytes());
  Sampled counted(mi300);
  ASSERT_TRUE(counted.sample());
  EXPECT_EQ(counted[device_metric("energy_joules")], Reading(1234.5));
  FakeCard navi("73BF");
  navi.write("gpu_metrics", Table(120, 1, 3).u64(24, 17691682).bytes());
  Sampled unknown(navi);
  ASSERT_TRUE(unknown.sample());
  EXPECT_TRUE(unknown[device_metric("energy_joules")].is(Reason::not_supported));
}

Table limits(std::uint64_t whole, std::uint64_t power, std::uint64_t socket, std::uint64_t memory) {
  return Table(312, 1, 6).u32(32, whole).u32(40, power).u32(44, socket).u32(48, 0).u32(52, memory);
}

TEST(AmdLimits, HoldForTheirShareOfTheFirmwaresTime) {
  FakeCard card("74A1");
  card.write("gpu_busy_percent", "100\n");
  card.write("gpu_metrics", limits(1000, 100, 7, 3).bytes());
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_TRUE(sampled[device_metric("throttled_power_percent")].is(Reason::not_sampled));
  card.write("gpu_metrics", limits(2000, 350, 7, 128).bytes());
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[device_metric("throttled_power_percent")], Reading(25));
  EXPECT_EQ(sampled[device_metric("throttled_thermal_percent")], Reading(12.5));
  EXPECT_EQ(sampled[kThrottle], Reading(1 << 2 | 1 << 6));
  // The counter was reset: nothing is known about the time in between.
  card.write("gpu_metrics", limits(10, 5, 0, 0).bytes());
  ASSERT_TRUE(sampled.sample());
  EXPECT_TRUE(sampled[device_metric("throttled_power_percent")].is(Reason::not_sampled));
}

TEST(AmdLimits, ThatAnIdleChipClaimsAreNotBelieved) {
  FakeCard card("74A1");
  card.write("gpu_busy_percent", "0\n");
  card.write("gpu_metrics", limits(1000, 1000, 0, 0).bytes());
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  card.write("gpu_metrics", limits(2000, 2000, 0, 0).bytes());
  ASSERT_TRUE(sampled.sample());
  EXPECT_TRUE(sampled[device_metric("throttled_power_percent")].is(Reason::out_of_range));
  EXPECT_TRUE(sampled[kThrottle].is(Reason::out_of_range));
}

TEST(AmdLimits, OfAProcessorAreThoseWhoseCountersGrew) {
  FakeCard card("150E");
  const auto table = [](std::uint64_t fast, std::uint64_t graphics) {
    return Table(264, 3, 0).u32(228, 0).u32(236, fast).u32(248, graphics).bytes();
  };
  card.write("gpu_metrics", table(34055, 306735));
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_TRUE(sampled[kThrottle].is(Reason::not_sampled));
  card.write("gpu_metrics", table(34055, 306735));
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kThrottle], Reading(0));
  card.write("gpu_metrics", table(34056, 306735));
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kThrottle], Reading(1 << 2));
}

TEST(AmdLimits, OfTheHottestPointCountOnlyNearIt) {
  const BusyCard card("7480");
  card.write("gpu_metrics", Table(120, 1, 3).u64(112, 1ULL << 36U | 1).bytes());
  card.sensor("temp2_input", "54000");
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kThrottle], Reading(1 << 2)) << "the limit of power stays";
  card.sensor("temp2_input", "104000");
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[kThrottle], Reading(1 << 2 | 1 << 6));
}

TEST(AmdXgmi, GivesBytesPerSecondBetweenTwoReadings) {
  FakeCard card("74A1");
  const auto table = [](std::uint64_t in, std::uint64_t out) {
    return Table(288, 1, 4).u64(104, in).u64(112, 50).u64(168, out).bytes();
  };
  card.write("gpu_metrics", table(1000, 10));
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample());
  EXPECT_TRUE(sampled[device_metric("xgmi_read_bytes_per_second")].is(Reason::not_sampled));
  card.write("gpu_metrics", table(3000, 14));
  ASSERT_TRUE(sampled.sample(0, Seconds(2)));
  EXPECT_EQ(sampled[device_metric("xgmi_read_bytes_per_second")], Reading(1024000));
  EXPECT_EQ(sampled[device_metric("xgmi_write_bytes_per_second")], Reading(2048));
}

}  // namespace

}  // namespace gpulse::amdgpu
