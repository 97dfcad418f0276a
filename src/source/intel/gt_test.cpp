// SPDX-License-Identifier: Apache-2.0
#include "source/intel/gt.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "metric/state_names.hpp"

namespace gpulse::intel {
namespace {

drm::Card card_of(std::string_view driver) {
  drm::Card card;
  card.folder = "/sys/class/drm/card0";
  card.device = "/sys/class/drm/card0/device";
  card.driver = driver;
  return card;
}

TEST(Gts, OldKernelsShowOnePartInTheFolderOfTheCard) {
  const TemporaryFolder machine;
  machine.write("/sys/class/drm/card0/gt_act_freq_mhz", "350\n");
  machine.write("/sys/class/drm/card0/gt_RP0_freq_mhz", "1150\n");
  machine.write("/sys/class/drm/card0/power/rc6_residency_ms", "100\n");
  const auto gts = find_gts(machine.root(), card_of(kI915));
  ASSERT_EQ(gts.size(), 1U);
  EXPECT_EQ(gts[0].actual, "/sys/class/drm/card0/gt_act_freq_mhz");
  EXPECT_EQ(gts[0].requested, "");
  EXPECT_EQ(gts[0].highest, "/sys/class/drm/card0/gt_RP0_freq_mhz");
  EXPECT_EQ(gts[0].idle_ms, "/sys/class/drm/card0/power/rc6_residency_ms");
}

TEST(Gts, IdleStateThatIsSwitchedOffTellsNothing) {
  const TemporaryFolder machine;
  machine.write("/sys/class/drm/card0/gt/gt0/rc6_residency_ms", "0\n");
  machine.write("/sys/class/drm/card0/gt/gt0/rc6_enable", "0\n");
  EXPECT_EQ(find_gts(machine.root(), card_of(kI915)).at(0).idle_ms, "");
  machine.write("/sys/class/drm/card0/gt/gt0/rc6_enable", "1\n");
  EXPECT_EQ(find_gts(machine.root(), card_of(kI915)).at(0).idle_ms, "/sys/class/drm/card0/gt/gt0/rc6_residency_ms");
}

TEST(Gts, SecondPartOfAProcessorIsItsVideoEngines) {
  const TemporaryFolder machine;
  machine.write("/sys/class/drm/card0/gt/gt0/rps_act_freq_mhz", "600\n");
  machine.write("/sys/class/drm/card0/gt/gt1/rps_act_freq_mhz", "1300\n");
  const auto gts = find_gts(machine.root(), card_of(kI915));
  ASSERT_EQ(gts.size(), 2U);
  EXPECT_FALSE(gts[0].media);
  EXPECT_TRUE(gts[1].media);
}

TEST(Gts, SecondPartOfABoardWithSensorsForEachIsATile) {
  const TemporaryFolder machine;
  machine.write("/sys/class/drm/card0/gt/gt0/rps_act_freq_mhz", "600\n");
  machine.write("/sys/class/drm/card0/gt/gt1/rps_act_freq_mhz", "700\n");
  machine.write("/sys/class/drm/card0/device/hwmon/hwmon2/name", "i915\n");
  machine.write("/sys/class/drm/card0/device/hwmon/hwmon3/name", "i915_gt0\n");
  machine.write("/sys/class/drm/card0/device/hwmon/hwmon4/name", "i915_gt1\n");
  const auto gts = find_gts(machine.root(), card_of(kI915));
  ASSERT_EQ(gts.size(), 2U);
  EXPECT_FALSE(gts[1].media);
}

TEST(Gts, XeNamesItsMediaPart) {
  const TemporaryFolder machine;
  const std::string tile = "/sys/class/drm/card0/device/tile0";
  machine.write(tile + "/gt0/gtidle/name", "gt0-rc\n");
  machine.write(tile + "/gt1/gtidle/name", "gt1-mc\n");
  // Without a name, by what it has.
  machine.make_folder("/sys/class/drm/card0/device/tile1/gt2/engines/vcs");
  machine.make_folder("/sys/class/drm/card0/device/tile1/gt3/engines/vcs");
  machine.make_folder("/sys/class/drm/card0/device/tile1/gt3/engines/bcs");
  const auto gts = find_gts(machine.root(), card_of(kXe));
  ASSERT_EQ(gts.size(), 4U);
  EXPECT_FALSE(gts[0].media);
  EXPECT_TRUE(gts[1].media);
  EXPECT_TRUE(gts[2].media);
  EXPECT_FALSE(gts[3].media);
  EXPECT_EQ(gts[3].number, 3);
}

TEST(Engines, OfBothDriversByTheirFolders) {
  const TemporaryFolder machine;
  for (const auto *const name : {"rcs0", "bcs0", "vcs0", "vcs1", "vecs0", "other"}) {
    machine.make_folder("/sys/class/drm/card0/engine/" + std::string(name));
  }
  EXPECT_EQ(find_engines(machine.root(), card_of(kI915)).size(), 4U);
  machine.make_folder("/sys/class/drm/card0/device/tile0/gt0/engines/ccs");
  const auto of_xe = find_engines(machine.root(), card_of(kXe));
  ASSERT_EQ(of_xe.size(), 1U);
  EXPECT_EQ(of_xe[0], device_metric("compute_utilization_percent"));
}

TEST(Throttle, WordsOfBothDrivers) {
  const auto word = [](std::string_view cause) {
    const auto bits = throttle_bits(cause);
    for (std::size_t i = 0; i < state_names::kThrottle.size(); ++i) {
      if (bits == std::uint64_t{1} << i) return state_names::kThrottle[i];
    }
    return std::string_view("several");
  };
  for (const auto *const cause : {"pl1", "pl2", "pl4", "psys_pl1"}) EXPECT_EQ(word(cause), "power cap") << cause;
  for (const auto *const cause : {"thermal", "ratl", "vr_thermalert", "soc_thermal", "mem_thermal"})
    EXPECT_EQ(word(cause), "hw thermal") << cause;
  for (const auto *const cause : {"vr_tdc", "iccmax"}) EXPECT_EQ(word(cause), "current limit") << cause;
  EXPECT_EQ(word("prochot"), "hw slowdown");
  EXPECT_EQ(word("fast_vmode"), "other");
  EXPECT_EQ(word(""), "other");
}

}  // namespace
}  // namespace gpulse::intel
