// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/gpu_metrics.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace gpulse::amdgpu {

namespace {

// A table of that size and revision in which every field is "not supported" until the test sets it.
class Blob {
 public:
  Blob(std::size_t size, int format, int content) : bytes_(size, '\xFF') {
    put(0, 2, size);
    put(2, 1, static_cast<std::uint64_t>(format));
    put(3, 1, static_cast<std::uint64_t>(content));
  }
  Blob &put(std::size_t offset, std::size_t size, std::uint64_t value) {
    for (std::size_t i = 0; i < size; ++i) bytes_[offset + i] = static_cast<char>((value >> (8 * i)) & 0xFFU);
    return *this;
  }
  Blob &u16(std::size_t offset, std::uint64_t value) { return put(offset, 2, value); }
  Blob &u32(std::size_t offset, std::uint64_t value) { return put(offset, 4, value); }
  Blob &u64(std::size_t offset, std::uint64_t value) { return put(offset, 8, value); }
  const std::string &bytes() const { return bytes_; }
  GpuMetrics parsed() const {
    const auto metrics = parse_gpu_metrics(bytes_);
    EXPECT_TRUE(metrics);
    return metrics.value_or(GpuMetrics{});
  }

 private:
  std::string bytes_;
};

std::string fixture(std::string_view name) {
  const auto path = std::filesystem::path(kSourceDir) / "../shared/fixtures/drm" / name;
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(GpuMetrics, OfEveryLayoutWithNothingSupportedHaveNothing) {
  struct Case {
    std::size_t size;
    int format, content;
  };
  for (const auto &[size, format, content] : {Case{80, 1, 0},
                                              {96, 1, 1},
                                              {104, 1, 2},
                                              {120, 1, 3},
                                              {288, 1, 4},
                                              {360, 1, 5},
                                              {1664, 1, 6},
                                              {2208, 1, 7},
                                              {3872, 1, 8},
                                              {120, 2, 0},
                                              {120, 2, 1},
                                              {128, 2, 2},
                                              {152, 2, 3},
                                              {168, 2, 4},
                                              {264, 3, 0}}) {
    const auto metrics = Blob(size, format, content).parsed();
    EXPECT_TRUE(metrics.has.none()) << format << "." << content;
    EXPECT_EQ(metrics.integrated(), format != 1);
  }
}

TEST(GpuMetrics, OfAVega20) {
  const auto metrics = Blob(80, 1, 0).u16(16, 41).u16(18, 55).u16(34, 187).u16(54, 1800).u16(72, 2100).parsed();
  EXPECT_EQ(metrics[Field::temperature_edge], 41);
  EXPECT_EQ(metrics[Field::temperature_hotspot], 55);
  EXPECT_EQ(metrics[Field::power_socket], 187);
  EXPECT_EQ(metrics[Field::clock_graphics], 1800);
  EXPECT_EQ(metrics[Field::fan_rpm], 2100);
  EXPECT_FALSE(metrics[Field::temperature_memory]);
}

TEST(GpuMetrics, OfAnEarlyNavi) {
  const auto metrics = Blob(96, 1, 1).u16(8, 66).u16(16, 97).u16(60, 1200).parsed();
  EXPECT_EQ(metrics[Field::temperature_memory], 66);
  EXPECT_EQ(metrics[Field::activity_graphics], 97);
  EXPECT_EQ(metrics[Field::clock_video], 1200);
}

TEST(GpuMetrics, OfAnAldebaranCountEnergy) {
  const auto metrics = Blob(104, 1, 2).u64(24, 0x0123456789AB).u16(12, 44).parsed();
  EXPECT_EQ(metrics[Field::energy], 1250999896491.0);
  EXPECT_EQ(metrics[Field::temperature_vr_soc], 44);
}

TEST(GpuMetrics, OfAnMi300TakeTheFastestOfItsClocksAndTheSumOfItsLinks) {
  auto blob = Blob(288, 1, 4).u16(4, 71).u16(6, 62).u16(10, 748).u16(12, 100).u64(24, 65536).u64(88, 17);
  blob.u16(16, 30).u16(18, 50).u64(104, 1000).u64(112, 24).u64(168, 7).u16(240, 1700).u16(242, 2100).u16(280, 1300);
  const auto metrics = blob.parsed();
  EXPECT_EQ(metrics[Field::temperature_hotspot], 71);
  EXPECT_EQ(metrics[Field::temperature_memory], 62);
  EXPECT_EQ(metrics[Field::power_socket], 748);
  EXPECT_EQ(metrics[Field::activity_graphics], 100);
  EXPECT_EQ(metrics[Field::activity_video], 40);
  EXPECT_EQ(metrics[Field::energy], 65536);
  EXPECT_EQ(metrics[Field::pcie_replay], 17);
  EXPECT_EQ(metrics[Field::xgmi_read_kib], 1024);
  EXPECT_EQ(metrics[Field::xgmi_write_kib], 7);
  EXPECT_EQ(metrics[Field::clock_graphics], 2100);
  EXPECT_EQ(metrics[Field::clock_memory], 1300);
  EXPECT_FALSE(metrics[Field::clock_soc]);
}

TEST(GpuMetrics, OfTheSecondMi300Layout) {
  const auto metrics = Blob(360, 1, 5).u16(24, 10).u16(26, 30).u64(88, 99).u64(152, 3).u16(312, 2099).parsed();
  EXPECT_EQ(metrics[Field::activity_jpeg], 20);
  EXPECT_EQ(metrics[Field::energy], 99);
  EXPECT_EQ(metrics[Field::pcie_replay], 3);
  EXPECT_EQ(metrics[Field::clock_graphics], 2099);
}

TEST(GpuMetrics, OfASplitMi300TellTheUseOfEachPart) {
  auto blob = Blob(1664, 1, 6).u64(16, 5).u32(32, 1000).u32(36, 1).u32(40, 250).u32(44, 2).u32(48, 3).u32(52, 4);
  blob.u16(306, 2).u32(312, 90).u32(316, 70).u32(312 + 168, 0);
  const auto metrics = blob.parsed();
  EXPECT_EQ(metrics[Field::energy], 5);
  EXPECT_EQ(metrics[Field::accumulation], 1000);
  EXPECT_EQ(metrics[Field::residency_prochot], 1);
  EXPECT_EQ(metrics[Field::residency_power], 250);
  EXPECT_EQ(metrics[Field::residency_socket_heat], 2);
  EXPECT_EQ(metrics[Field::residency_regulator_heat], 3);
  EXPECT_EQ(metrics[Field::residency_memory_heat], 4);
  EXPECT_EQ(metrics.partition_busy[0], 80);
  EXPECT_EQ(metrics.partition_busy[1], 0);
  EXPECT_FALSE(metrics.partition_busy[2]);
}

TEST(GpuMetrics, WithoutTheRecordsOfPartsStillHaveTheRest) {
  const auto metrics = Blob(312, 1, 6).u16(306, 8).u16(4, 50).parsed();
  EXPECT_EQ(metrics[Field::temperature_hotspot], 50);
  EXPECT_FALSE(metrics.partition_busy[0]);
}

TEST(GpuMetrics, OfTheLaterMi300Layouts) {
  auto seven = Blob(2208, 1, 7).u64(24, 6).u32(40, 11).u32(48, 12).u16(338, 2).u32(344 + 232, 33).u16(296, 2000);
  EXPECT_EQ(seven.parsed()[Field::energy], 6);
  EXPECT_EQ(seven.parsed()[Field::accumulation], 11);
  EXPECT_EQ(seven.parsed()[Field::residency_power], 12);
  EXPECT_EQ(seven.parsed()[Field::clock_graphics], 2000);
  EXPECT_EQ(seven.parsed().partition_busy[1], 33);
  auto eight = Blob(3872, 1, 8).u16(338, 8).u32(344 + 7 * 440, 44).u16(336, 1301);
  EXPECT_EQ(eight.parsed().partition_busy[7], 44);
  EXPECT_EQ(eight.parsed()[Field::clock_memory], 1301);
}

// v1_9: each value has a header that says what it is.
std::string record(std::uint64_t unit, std::uint64_t type, std::uint64_t id,
                   std::initializer_list<std::uint64_t> values, std::size_t size) {
  Blob head(8, 0, 0);
  head.u64(0, unit << 24U | type << 20U | id << 10U | values.size());
  std::string out = head.bytes();
  for (const auto value : values) {
    for (std::size_t i = 0; i < size; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  }
  return out;
}

std::string packed(std::initializer_list<std::string> records) {
  std::string body;
  for (const auto &one : records) body += one;
  Blob head(8, 1, 9);
  head.put(0, 2, 8 + body.size()).u32(4, records.size());
  return head.bytes() + body;
}

TEST(GpuMetrics, OfTheSelfDescribingKind) {
  const auto metrics = parse_gpu_metrics(packed({
      record(2, 2, 0, {64}, 2),                  // hotspot, °C, u16
      record(3, 2, 3, {751}, 2),                 // socket power, W
      record(0, 6, 7, {0x10000}, 8),             // energy, u64
      record(1, 2, 33, {900, 0xFFFF, 2100}, 2),  // graphics clocks, MHz
      record(9, 6, 29, {1, 2, 3}, 8),            // XGMI, KB
      record(0, 0, 1000, {1, 2, 3}, 1),          // something of a later kernel
      record(2, 3, 1, {0xFFFB}, 2),              // memory, s16: -5
      record(0, 4, 9, {77}, 4),                  // accumulation counter, u32
  }));
  ASSERT_TRUE(metrics);
  EXPECT_EQ((*metrics)[Field::temperature_hotspot], 64);
  EXPECT_EQ((*metrics)[Field::power_socket], 751);
  EXPECT_EQ((*metrics)[Field::energy], 65536);
  EXPECT_EQ((*metrics)[Field::clock_graphics], 2100);
  EXPECT_EQ((*metrics)[Field::xgmi_read_kib], 6);
  EXPECT_EQ((*metrics)[Field::accumulation], 77);
  EXPECT_FALSE((*metrics)[Field::temperature_memory]);
}

TEST(GpuMetrics, InAnotherUnitThanKnownAreNotBelieved) {
  const auto metrics = parse_gpu_metrics(packed({record(3, 2, 0, {64}, 2)}));
  ASSERT_TRUE(metrics);
  EXPECT_FALSE((*metrics)[Field::temperature_hotspot]);
}

TEST(GpuMetrics, WhoseRecordsEndTooSoonOrHaveNoKnownTypeAreRefused) {
  auto cut = packed({record(2, 2, 0, {64}, 2), record(3, 2, 3, {751}, 2)});
  cut.pop_back();
  cut[0] = static_cast<char>(cut.size());
  EXPECT_FALSE(parse_gpu_metrics(cut));
  EXPECT_FALSE(parse_gpu_metrics(packed({record(2, 9, 0, {64}, 2)})));
}

TEST(GpuMetrics, OfProcessorsCountInHundredthsOfADegreeAndMilliwatts) {
  const auto renoir = Blob(120, 2, 0).u16(16, 4512).u16(18, 4000).u16(44, 15250).u16(86, 1333).parsed();
  EXPECT_DOUBLE_EQ(*renoir[Field::temperature_edge], 45.12);
  EXPECT_DOUBLE_EQ(*renoir[Field::temperature_soc], 40.0);
  EXPECT_DOUBLE_EQ(*renoir[Field::power_socket], 15.25);
  EXPECT_EQ(renoir[Field::clock_fabric], 1333);
  const auto van_gogh = Blob(168, 2, 4).u16(4, 5600).u64(120, 0x20).u16(154, 669).u16(156, 15).parsed();
  EXPECT_DOUBLE_EQ(*van_gogh[Field::temperature_edge], 56);
  EXPECT_DOUBLE_EQ(*van_gogh[Field::voltage_soc], 0.669);
  EXPECT_DOUBLE_EQ(*van_gogh[Field::voltage_graphics], 0.015);
  EXPECT_EQ(van_gogh.throttle, 0x20U);
  EXPECT_FALSE(Blob(152, 2, 3).u16(28, 79).parsed()[Field::activity_graphics]) << "its unit differs between chips";
}

TEST(GpuMetrics, OfAStrix) {
  auto blob = Blob(264, 3, 0).u16(4, 4825).u16(42, 12).u16(44, 3).u32(112, 21500).u16(174, 600).u16(186, 937);
  blob.u32(240, 34055).u32(248, 306735);
  const auto metrics = blob.parsed();
  EXPECT_DOUBLE_EQ(*metrics[Field::temperature_edge], 48.25);
  EXPECT_EQ(metrics[Field::activity_graphics], 12);
  EXPECT_EQ(metrics[Field::activity_video], 3);
  EXPECT_DOUBLE_EQ(*metrics[Field::power_socket], 21.5);
  EXPECT_EQ(metrics[Field::clock_graphics], 600);
  EXPECT_EQ(metrics[Field::clock_memory], 937);
  EXPECT_EQ(metrics[Field::growth_power_slow], 34055);
  EXPECT_EQ(metrics[Field::growth_graphics_heat], 306735);
  EXPECT_FALSE(metrics[Field::growth_prochot]);
}

TEST(GpuMetrics, ThatAreCutOffAreRefused) {
  auto bytes = Blob(120, 1, 3).bytes();
  bytes.resize(119);
  EXPECT_FALSE(parse_gpu_metrics(bytes));
  EXPECT_FALSE(parse_gpu_metrics(""));
  EXPECT_FALSE(parse_gpu_metrics("x"));
}

TEST(GpuMetrics, InAPaddedFileAreRead) {
  auto bytes = Blob(120, 1, 3).u16(4, 40).bytes();
  bytes.resize(4096);
  const auto metrics = parse_gpu_metrics(bytes);
  ASSERT_TRUE(metrics);
  EXPECT_EQ((*metrics)[Field::temperature_edge], 40);
}

TEST(GpuMetrics, OfAnUnknownRevisionOrTooShortForTheirOwnAreRefused) {
  EXPECT_FALSE(parse_gpu_metrics(Blob(120, 1, 10).bytes()));
  EXPECT_FALSE(parse_gpu_metrics(Blob(120, 4, 0).bytes()));
  EXPECT_FALSE(parse_gpu_metrics(Blob(96, 1, 3).bytes()));
  EXPECT_FALSE(parse_gpu_metrics(std::string(4, '\0')));
}

// Recorded by others; expected values decoded by hand.
TEST(GpuMetrics, OfRecordedMachines) {
  const auto dgpu = fixture("blobs-mangohud/dgpu-v1_3.bin");
  if (dgpu.empty()) GTEST_SKIP() << "no shared fixtures";
  const auto card = parse_gpu_metrics(dgpu);
  ASSERT_TRUE(card);
  EXPECT_EQ((*card)[Field::temperature_edge], 36);           // 24 00 at 4
  EXPECT_EQ((*card)[Field::temperature_hotspot], 49);        // 31 00 at 6
  EXPECT_EQ((*card)[Field::temperature_vr_memory], 37);      // 25 00 at 14
  EXPECT_EQ((*card)[Field::activity_graphics], 64);          // 40 00 at 16
  EXPECT_EQ((*card)[Field::power_socket], 33);               // 21 00 at 22
  EXPECT_EQ((*card)[Field::clock_graphics], 2165);           // 75 08 at 54
  EXPECT_DOUBLE_EQ(*(*card)[Field::voltage_soc], 0.987);     // db 03 at 104
  EXPECT_DOUBLE_EQ(*(*card)[Field::voltage_memory], 1.356);  // 4c 05 at 108
  EXPECT_EQ((*card)[Field::throttle], 0);

  const auto apu = parse_gpu_metrics(fixture("blobs-mangohud/apu-v2_2.bin"));
  ASSERT_TRUE(apu);
  EXPECT_DOUBLE_EQ(*(*apu)[Field::temperature_edge], 81.75);  // ef 1f at 4
  EXPECT_DOUBLE_EQ(*(*apu)[Field::power_socket], 18.844);     // 9c 49 at 40
  EXPECT_EQ((*apu)[Field::clock_graphics], 1040);             // 10 04 at 76
  EXPECT_EQ((*apu)[Field::clock_soc], 600);                   // 58 02 at 78
  EXPECT_EQ(apu->throttle, 0x60U);

  EXPECT_FALSE(parse_gpu_metrics(fixture("blobs-mangohud/invalid.bin")));
}

TEST(Throttle, BitsBecomeWords) {
  constexpr std::uint64_t kPower = 1U << 2U, kHardware = 1U << 3U, kThermal = 1U << 6U, kCurrent = 1U << 11U,
                          kOther = 1U << 12U;
  EXPECT_EQ(decode_throttle(0), 0U);
  EXPECT_EQ(decode_throttle(0x60), kPower);            // fast and slow package power
  EXPECT_EQ(decode_throttle(1ULL << 16U), kCurrent);   // TDC of the graphics part
  EXPECT_EQ(decode_throttle(1ULL << 23U), kCurrent);   // APCC
  EXPECT_EQ(decode_throttle(kHotspotBit), kThermal);   // hotspot
  EXPECT_EQ(decode_throttle(1ULL << 45U), kThermal);   // VRHOT
  EXPECT_EQ(decode_throttle(1ULL << 47U), kHardware);  // PROCHOT
  EXPECT_EQ(decode_throttle(1ULL << 57U), kOther);     // FIT
  EXPECT_EQ(decode_throttle(1ULL << 63U), kOther);
  EXPECT_EQ(decode_throttle(~0ULL), kPower | kCurrent | kThermal | kHardware | kOther);
}

}  // namespace

}  // namespace gpulse::amdgpu
