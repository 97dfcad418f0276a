// SPDX-License-Identifier: Apache-2.0
#include "fleet/engine_gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

EngineSeries info(const char *instance, const char *gpu, const char *uuid, std::vector<Label> more = {}) {
  EngineSeries series{.labels = {{"instance", instance}, {"gpu", gpu}, {"uuid", uuid}, {"vendor", "nvidia"}}};
  series.labels.insert(series.labels.end(), more.begin(), more.end());
  return series;
}

std::vector<std::string> uuids(const std::vector<EngineGpu> &gpus) {
  std::vector<std::string> all;
  for (const auto &gpu : gpus) all.push_back(gpu.instance + " " + gpu.uuid);
  return all;
}

const std::vector<EngineSeries> kInfos{
    info("n2:9837", "0", "GPU-c", {{"pci", "0000:01:00.0"}}),
    info("n1:9837", "10", "GPU-b"),
    info("n1:9837", "2", "GPU-a1234", {{"driver", "1"}, {"name", "H200"}}),
    info("n1:9837", "2", "GPU-a1234", {{"driver", "2"}, {"name", "H200"}}),
    info("n1:9837", "2:1", "MIG-1", {{"parent", "GPU-a1234"}}),
    info("n3", "x", ""),
};

TEST(EngineGpus, AreEachThereOnce) {
  const auto gpus = gpus_of(kInfos);
  EXPECT_THAT(uuids(gpus), ElementsAre("n1:9837 GPU-a1234", "n1:9837 MIG-1", "n1:9837 GPU-b", "n2:9837 GPU-c"));
  EXPECT_EQ(gpus[0].name, "H200");
  EXPECT_EQ(gpus[1].parent, "GPU-a1234");
}

TEST(EngineGpus, AreOfTheHostsThatPeopleKnow) {
  EXPECT_EQ(host_of("node1:9837"), "node1");
  EXPECT_EQ(host_of("node1:9838"), "node1:9838");
  EXPECT_EQ(host_of("[fd00::1]:9837"), "[fd00::1]");
  EXPECT_EQ(host_of(":9837"), ":9837");
  EXPECT_EQ(host_of("evil\x1b[31m"), "evil [31m");
}

TEST(EngineGpus, AreChosenOnAnyHost) {
  const auto all = gpus_of(kInfos);
  const auto chosen = [&](const std::vector<std::string> &selectors) { return uuids(*choose_gpus(all, selectors)); };
  EXPECT_EQ(chosen({}).size(), 4U);
  EXPECT_THAT(chosen({"0"}), ElementsAre("n2:9837 GPU-c"));
  EXPECT_THAT(chosen({"2"}), ElementsAre("n1:9837 GPU-a1234", "n1:9837 MIG-1")) << "an instance comes with its GPU";
  EXPECT_THAT(chosen({"2:1"}), ElementsAre("n1:9837 MIG-1"));
  EXPECT_THAT(chosen({"gpu-a", "01:00.0"}),
              UnorderedElementsAre("n1:9837 GPU-a1234", "n1:9837 MIG-1", "n2:9837 GPU-c"));
  EXPECT_THAT(choose_gpus(all, {"0,7"}).error().line(), HasSubstr("no device \"7\""));
}

}  // namespace
}  // namespace gpulse::fleet
