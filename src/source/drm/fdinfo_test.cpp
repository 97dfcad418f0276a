// SPDX-License-Identifier: Apache-2.0
#include "source/drm/fdinfo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "base/sysroot.hpp"
#include "test_paths.hpp"

namespace gpulse::drm {

namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

const EngineCount &engine(const ClientInfo &info, std::string_view name) {
  static const EngineCount kNone{};
  for (const auto &one : info.engines) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no engine " << name;
  return kNone;
}

const RegionCount &region(const ClientInfo &info, std::string_view name) {
  static const RegionCount kNone{};
  for (const auto &one : info.regions) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no region " << name;
  return kNone;
}

// Recorded on other people's machines. The texts are kept alive because all views point into them.
class Recorded : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no shared fixtures";
  }
  bool parse(const std::string &file) {
    text_ = Sysroot(kFolder).read("/" + file).value();
    return parse_fdinfo(text_, info_);
  }

  const std::string kFolder = kSourceDir + "/../shared/fixtures/drm";
  std::string text_;
  ClientInfo info_;
};

TEST_F(Recorded, AmdgpuBeforeTheCommonForm) {
  ASSERT_TRUE(parse("fdinfo-amdgpu-5.15-legacy/proc/4728/fdinfo/7"));
  EXPECT_EQ(info_.driver, "amdgpu");
  EXPECT_EQ(info_.pdev, "0000:04:00.0");
  EXPECT_EQ(info_.id, 32774U);
  EXPECT_EQ(region(info_, "vram").held(), 17196 * kKiB);
  EXPECT_EQ(region(info_, "gtt").held(), 6144 * kKiB);
  EXPECT_EQ(region(info_, "cpu").held(), 0U);
  ASSERT_EQ(info_.engines.size(), 1U);
  EXPECT_EQ(engine(info_, "gfx").percent, 70.59);
  EXPECT_FALSE(engine(info_, "gfx").busy_ns);
}

TEST_F(Recorded, AmdgpuWithTheOldMemoryKeys) {
  ASSERT_TRUE(parse("fdinfo-amdgpu-6.x-drm-memory/proc/2217/fdinfo/99"));
  EXPECT_EQ(info_.driver, "amdgpu");
  EXPECT_EQ(info_.pdev, "0000:08:00.0");
  EXPECT_EQ(info_.id, 217U);
  EXPECT_EQ(region(info_, "vram").memory, 2068 * kKiB);
  EXPECT_EQ(region(info_, "gtt").held(), 8192 * kKiB);
  EXPECT_EQ(engine(info_, "gfx").busy_ns, 107322799U);
  EXPECT_EQ(engine(info_, "gfx").capacity, 1U);
}

TEST_F(Recorded, AmdgpuWithOldAndNewMemoryKeysSideBySide) {
  ASSERT_TRUE(parse("fdinfo-amdgpu-memstats-gfx/fdinfo.txt"));
  EXPECT_EQ(info_.id, 30U);
  const auto &vram = region(info_, "vram");
  EXPECT_EQ(vram.total, 544428 * kKiB);
  EXPECT_EQ(vram.shared, 13584 * kKiB);
  EXPECT_EQ(vram.active, 260356 * kKiB);
  EXPECT_EQ(vram.resident, 544428 * kKiB);
  EXPECT_EQ(vram.memory, 544428 * kKiB);
  EXPECT_FALSE(vram.purgeable);
  // "drm-memory-gtt: " has a blank before the tab, and the other unit.
  EXPECT_EQ(region(info_, "gtt").resident, 22 * kMiB);
  EXPECT_EQ(region(info_, "gtt").memory, 22528 * kKiB);
  EXPECT_EQ(info_.regions.size(), 3U);
  EXPECT_EQ(engine(info_, "gfx").busy_ns, 39456116802U);
}

TEST_F(Recorded, I915WithNumberedRegions) {
  ASSERT_TRUE(parse("fdinfo-i915-region-index/fdinfo.txt"));
  EXPECT_EQ(info_.driver, "i915");
  EXPECT_EQ(info_.id, 39U);
  EXPECT_EQ(region(info_, "system0").total, 6044 * kKiB);
  EXPECT_EQ(region(info_, "system0").shared, 0U);
  EXPECT_EQ(region(info_, "system0").purgeable, 1688 * kKiB);
  EXPECT_EQ(region(info_, "stolen-system0").resident, 0U);
  EXPECT_EQ(engine(info_, "render").busy_ns, 346249U);
  EXPECT_EQ(engine(info_, "video").capacity, 2U);
  EXPECT_EQ(engine(info_, "video-enhance").capacity, 1U);
  EXPECT_EQ(info_.engines.size(), 4U);
}

TEST_F(Recorded, XeCountsCycles) {
  ASSERT_TRUE(parse("fdinfo-xe-dgpu/fdinfo.txt"));
  EXPECT_EQ(info_.driver, "xe");
  EXPECT_EQ(engine(info_, "rcs").cycles, 28257900U);
  EXPECT_EQ(engine(info_, "rcs").total_cycles, 7655183225U);
  EXPECT_FALSE(engine(info_, "rcs").busy_ns);
  EXPECT_EQ(engine(info_, "vcs").capacity, 2U);
  EXPECT_EQ(engine(info_, "ccs").capacity, 4U);
  EXPECT_EQ(info_.engines.size(), 5U);
  EXPECT_EQ(region(info_, "vram0").held(), 23992 * kKiB);
  EXPECT_EQ(region(info_, "vram0").shared, 16 * kMiB);
  EXPECT_EQ(region(info_, "gtt").held(), 192 * kKiB);
  // system, gtt, vram0, stolen: "drm-total-cycles-rcs" is not a region.
  EXPECT_EQ(info_.regions.size(), 4U);
}

TEST_F(Recorded, PanfrostHasTimeAndCyclesAndNoBus) {
  ASSERT_TRUE(parse("fdinfo-panfrost/fdinfo.txt"));
  EXPECT_EQ(info_.driver, "panfrost");
  EXPECT_EQ(info_.pdev, "");
  EXPECT_EQ(info_.id, 14U);
  EXPECT_EQ(engine(info_, "fragment").busy_ns, 1846584880U);
  EXPECT_EQ(engine(info_, "fragment").cycles, 1424359409U);
  EXPECT_EQ(engine(info_, "fragment").max_hz, 799999987U);
  EXPECT_EQ(engine(info_, "vertex-tiler").busy_ns, 71932239U);
  EXPECT_EQ(info_.engines.size(), 2U);
  EXPECT_EQ(region(info_, "memory").total, 290 * kMiB);
  EXPECT_EQ(region(info_, "memory").held(), 36496 * kKiB);
  EXPECT_EQ(region(info_, "memory").purgeable, 128 * kKiB);
}

TEST_F(Recorded, V3dTellsZeroWithoutAUnit) {
  ASSERT_TRUE(parse("fdinfo-v3d-pi5/proc/1066/fdinfo/17"));
  EXPECT_EQ(info_.driver, "v3d");
  EXPECT_FALSE(info_.id);
  EXPECT_EQ(region(info_, "memory").total, 3772 * kKiB);
  EXPECT_EQ(region(info_, "memory").held(), 3520 * kKiB);
  for (const auto *file : {"fdinfo-v3d-pi5/proc/1066/fdinfo/18", "fdinfo-v3d-pi5/proc/1163/fdinfo/9"}) {
    ASSERT_TRUE(parse(file));
    EXPECT_EQ(region(info_, "memory").held(), 0U);
  }
}

TEST_F(Recorded, BuffersAndPlainFilesAreNoClients) {
  int files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(kFolder + "/fdinfo-not-drm-pi/proc/812/fdinfo")) {
    EXPECT_FALSE(parse("fdinfo-not-drm-pi/proc/812/fdinfo/" + entry.path().filename().string())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 7);
}

struct SizeCase {
  std::string_view text;
  std::optional<std::uint64_t> bytes;
};

TEST(Fdinfo, TakesEveryUnitTheKernelWrites) {
  for (const auto &[text, bytes] : {
           SizeCase{"0", 0},
           SizeCase{"4097", 4097},
           SizeCase{"12 KiB", 12 * kKiB},
           SizeCase{"12 kB", 12 * kKiB},
           SizeCase{"3 MiB", 3 * kMiB},
           SizeCase{"2 GiB", 2 * kGiB},
           SizeCase{"\t 5\tMiB  ", 5 * kMiB},
           SizeCase{"18446744073709551615", 18446744073709551615U},
           SizeCase{"18014398509481983 KiB", 18014398509481983U * kKiB},
           SizeCase{"18014398509481984 KiB", {}},  // beyond 64 bits
           SizeCase{"18446744073709551616", {}},
           SizeCase{"-1", {}},
           SizeCase{"12 TiB", {}},
           SizeCase{"KiB", {}},
           SizeCase{"", {}},
       }) {
    const auto lines = "drm-driver: x\ndrm-total-memory: 7\ndrm-resident-memory:" + std::string(text) + "\n";
    ClientInfo info;
    ASSERT_TRUE(parse_fdinfo(lines, info));
    EXPECT_EQ(region(info, "memory").resident, bytes) << text;
    EXPECT_EQ(region(info, "memory").total, 7U) << text;
  }
}

TEST(Fdinfo, KeepsWhatIsRightWhenALineIsNot) {
  const std::string text =
      "drm-driver:\ti915\nno colon\n:\ndrm-engine-:\t5 ns\ndrm-engine-render:\t12 apples\ndrm-engine-copy:\t7 ns\n"
      "drm-engine-capacity-copy:\t0\ndrm-client-id:\tx\ndrm-unheard-of:\t1\ndrm-cycles-copy:\t-4\n";
  ClientInfo info;
  ASSERT_TRUE(parse_fdinfo(text, info));
  ASSERT_EQ(info.engines.size(), 1U);
  EXPECT_EQ(engine(info, "copy").busy_ns, 7U);
  EXPECT_EQ(engine(info, "copy").capacity, 1U);
  EXPECT_FALSE(engine(info, "copy").cycles);
  EXPECT_FALSE(info.id);
}

TEST(Fdinfo, LooksPastThePaddingOfCopiedFiles) {
  auto text = std::string("drm-driver:\tv3d\ndrm-client-id:\t4\ndrm-client-name:\tlabwc\ndrm-engine-bin:\t9 ns");
  text.resize(4096, '\0');
  ClientInfo info;
  ASSERT_TRUE(parse_fdinfo(text, info));
  EXPECT_EQ(info.id, 4U);
  EXPECT_EQ(info.name, "labwc");
  EXPECT_EQ(engine(info, "bin").busy_ns, 9U);
}

TEST(Fdinfo, AddsUpTheRingsOfTheOldForm) {
  const std::string text =
      "pdev:\t0000:04:00.0\npasid:\t7\nvram mem:\t8 "
      "kB\ncompute0:\t60.00%\ncompute1:\t55.50%\nenc_10:\t1.25%\ngfx0:\tnan%\n";
  ClientInfo info;
  ASSERT_TRUE(parse_fdinfo(text, info));
  EXPECT_EQ(engine(info, "compute").percent, 100);
  EXPECT_EQ(engine(info, "enc_1").percent, 1.25);
  EXPECT_EQ(info.engines.size(), 2U);
}

// Any numbers in any order of lines are parsed as they were written.
TEST(Fdinfo, FindsEveryNumberInAnyOrderOfLines) {
  std::mt19937_64 random(20261115);
  ClientInfo info;
  for (int round = 0; round < 500; ++round) {
    const auto busy = random() >> 2U, cycles = random(), total = random(), held = random() >> 12U;
    const auto capacity = static_cast<std::uint32_t>(1 + random() % 16);
    std::vector<std::string> lines{"drm-driver:\tdriver\n",
                                   "drm-client-id:\t" + std::to_string(round) + "\n",
                                   "drm-engine-a:\t" + std::to_string(busy) + " ns\n",
                                   "drm-engine-capacity-a:\t" + std::to_string(capacity) + "\n",
                                   "drm-cycles-a:\t" + std::to_string(cycles) + "\n",
                                   "drm-total-cycles-a:\t" + std::to_string(total) + "\n",
                                   "drm-resident-r:\t" + std::to_string(held) + " KiB\n",
                                   "drm-total-r:\t" + std::to_string(held) + "\n",
                                   "flags:\t02100002\n"};
    std::shuffle(lines.begin(), lines.end(), random);
    std::string text;
    for (const auto &line : lines) text += line;
    ASSERT_TRUE(parse_fdinfo(text, info));
    EXPECT_EQ(info.id, static_cast<std::uint64_t>(round));
    ASSERT_EQ(info.engines.size(), 1U);
    EXPECT_EQ(info.engines[0].busy_ns, busy);
    EXPECT_EQ(info.engines[0].capacity, capacity);
    EXPECT_EQ(info.engines[0].cycles, cycles);
    EXPECT_EQ(info.engines[0].total_cycles, total);
    ASSERT_EQ(info.regions.size(), 1U);
    EXPECT_EQ(info.regions[0].resident, held * kKiB);
    EXPECT_EQ(info.regions[0].total, held);
  }
}

}  // namespace

}  // namespace gpulse::drm
