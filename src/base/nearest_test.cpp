// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

constexpr std::string_view kCommands[] = {"status", "top", "record", "pick", "run", "log", "doctor", "serve", "set"};
constexpr std::string_view kOptions[] = {"--json", "--csv", "--query-gpu", "--query-compute-apps", "--interval", "-i"};
constexpr std::string_view kMetrics[] = {"power_draw_watts", "power_limit_watts", "sm_active_percent",
                                         "tensor_active_percent", "hmma_tensor_active_percent"};

TEST(Nearest, ForgivesLettersThatAreSwappedMissingTooManyOrWrong) {
  EXPECT_EQ(nearest("tpo", kCommands), "top");
  EXPECT_EQ(nearest("sttus", kCommands), "status");
  EXPECT_EQ(nearest("recorrd", kCommands), "record");
  EXPECT_EQ(nearest("dokter", kCommands), "doctor");
  EXPECT_EQ(nearest("--jsn", kOptions), "--json");
  EXPECT_EQ(nearest("STATUS", kCommands), "status");
}

TEST(Nearest, KnowsWordsInAnotherOrder) { EXPECT_EQ(nearest("--gpu-query", kOptions), "--query-gpu"); }

TEST(Nearest, CompletesHalfANameAlsoOneWithAMistakeInIt) {
  EXPECT_EQ(nearest("sm_actve", kMetrics), "sm_active_percent");
  EXPECT_EQ(nearest("power", kMetrics), "power_draw_watts") << "the first of several";
  EXPECT_EQ(nearest("tensor", kMetrics), "tensor_active_percent") << "a beginning before a middle";
  EXPECT_EQ(nearest("hmma", kMetrics), "hmma_tensor_active_percent");
}

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("xyz", kCommands), "");
  EXPECT_EQ(nearest("--", kOptions), "");
  EXPECT_EQ(nearest("", kCommands), "");
  EXPECT_EQ(nearest("colour_of_paint", kMetrics), "");
  EXPECT_EQ(nearest("zzzzzzzzzzzzzz", kMetrics), "");
  EXPECT_EQ(nearest("-x", kOptions), "") << "no letter is right";
}

TEST(Nearest, IsSaidAsAQuestion) {
  EXPECT_EQ(did_you_mean("tpo", kCommands, "see gpulse --help"), "did you mean top?");
  EXPECT_EQ(did_you_mean("fly", kCommands, "see gpulse --help"), "see gpulse --help");
}

}  // namespace
}  // namespace gpulse
