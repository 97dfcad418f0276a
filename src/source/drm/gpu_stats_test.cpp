// SPDX-License-Identifier: Apache-2.0
#include "source/drm/gpu_stats.hpp"

#include <gtest/gtest.h>

#include "base/sysroot.hpp"
#include "test_paths.hpp"

namespace gpulse::drm {

namespace {

TEST(GpuStats, ReadsTheTableOfAV3d) {
  const auto text = Sysroot(kSourceDir + "/../shared/fixtures/drm").read("/v3d-gpu_stats/gpu_stats");
  if (!text) GTEST_SKIP() << "no shared fixtures";
  std::vector<EngineCount> queues;
  ASSERT_TRUE(parse_gpu_stats(*text, queues));
  ASSERT_EQ(queues.size(), 5U);
  EXPECT_EQ(queues[0].name, "bin");
  EXPECT_EQ(queues[0].total_cycles, 239043069420U);
  EXPECT_EQ(queues[0].cycles, 17438164056U);
  EXPECT_EQ(queues[4].name, "cache_clean");
  EXPECT_EQ(queues[4].cycles, 237375940U);
}

TEST(GpuStats, RefusesWhatIsNoSuchTable) {
  std::vector<EngineCount> queues;
  EXPECT_FALSE(parse_gpu_stats("", queues));
  EXPECT_FALSE(parse_gpu_stats("queue\ttimestamp\truntime\n", queues));
  EXPECT_FALSE(parse_gpu_stats("render 1 2 3\n", queues));
}

TEST(GpuStats, SkipsALineThatIsCut) {
  std::vector<EngineCount> queues;
  ASSERT_TRUE(parse_gpu_stats("queue timestamp jobs runtime\nbin 100 1\nrender 100 1 50\ntfu x 1 2\n", queues));
  ASSERT_EQ(queues.size(), 1U);
  EXPECT_EQ(queues[0].name, "render");
}

}  // namespace

}  // namespace gpulse::drm
