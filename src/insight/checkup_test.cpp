// SPDX-License-Identifier: Apache-2.0
#include "insight/checkup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpulse::insight {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// So many GPUs of NVIDIA with persistence mode on and a driver of today.
Snapshot machine(std::uint32_t gpus, std::string_view driver = "580.159.04") {
  Snapshot snapshot;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    DeviceIdentity identity;
    identity.vendor = "nvidia";
    identity.driver = driver;
    Device device{.id = {.index = i}, .identity = std::make_shared<DeviceIdentity>(identity)};
    device.row.fill(1.0);
    snapshot.devices.push_back(std::move(device));
  }
  return snapshot;
}

std::vector<std::string> words(const Snapshot &snapshot, Reader reader = Reader::agent) {
  std::vector<std::string> all;
  for (const auto &remark : check_up(snapshot, reader)) all.push_back(remark.what + ": " + remark.remedy);
  return all;
}

TEST(CheckUp, HasNothingToSayOfAMachineThatIsWell) {
  EXPECT_THAT(words(machine(8)), IsEmpty());
  EXPECT_EQ(verdict(machine(8), {}), "8 GPUs are seen, and nothing stands in the way.");
  EXPECT_EQ(verdict(machine(1), {}), "1 GPU is seen, and nothing stands in the way.");
}

TEST(CheckUp, MissesAnAgentOnlyWhereSamplesAreReadHere) {
  EXPECT_THAT(words(machine(1), Reader::this_program), ElementsAre(HasSubstr("no agent runs")));
  EXPECT_THAT(words(machine(1), Reader::recording), IsEmpty());
}

TEST(CheckUp, AdvisesPersistenceModeWhereNothingElseKeepsTheDriverLoaded) {
  auto snapshot = machine(3);
  for (const auto i : {0U, 2U}) snapshot.devices[i].row[device_metric("persistence_mode")] = 0.0;
  EXPECT_THAT(
      words(snapshot, Reader::this_program),
      ElementsAre("GPUs 0 and 2 have persistence mode off: the driver starts anew for whoever comes first: sudo "
                  "gpulse set persistence on",
                  HasSubstr("no agent runs")));
  EXPECT_THAT(words(snapshot, Reader::agent), IsEmpty());
}

TEST(CheckUp, SaysInEnglishWhetherItIsOneGpuOrSeveral) {
  EXPECT_THAT(words(machine(1, "470.256.02")), ElementsAre(StartsWith("GPU 0 has an old driver")));
  EXPECT_THAT(words(machine(2, "470.256.02")), ElementsAre(StartsWith("GPUs 0 and 1 have an old driver")));
  auto snapshot = machine(3);
  for (auto &device : snapshot.devices) device.state = DeviceState::not_responding;
  EXPECT_THAT(words(snapshot), ElementsAre(StartsWith("GPUs 0, 1 and 2 do not answer: the driver hangs")));
}

TEST(CheckUp, KnowsAnOldDriver) {
  EXPECT_THAT(words(machine(1, "470.256.02")), ElementsAre(HasSubstr("install 520 or newer")));
  EXPECT_THAT(words(machine(1, "520.56.06")), IsEmpty());
}

TEST(CheckUp, PutsTroubleFirst) {
  auto snapshot = machine(2, "470.256.02");
  snapshot.devices[1].state = DeviceState::lost;
  const auto remarks = check_up(snapshot, Reader::this_program);
  ASSERT_EQ(remarks.size(), 3);
  EXPECT_THAT(remarks[0], Field(&Remark::what, "GPU 1 does not answer on the bus"));
  EXPECT_EQ(verdict(snapshot, remarks), "2 GPUs are seen, but not all is well.");
}

TEST(CheckUp, ShowsTheWayToTheDemoWhereThereIsNoGpu) {
  Snapshot snapshot;
  snapshot.sources = {{"nvml", "no driver", "install one", 0}};
  const auto remarks = check_up(snapshot, Reader::this_program);
  EXPECT_EQ(verdict(snapshot, remarks), "No GPU found.");
  ASSERT_EQ(remarks.size(), 2);
  EXPECT_EQ(remarks[0].what + ": " + remarks[0].remedy, "nvml: no driver: install one");
  EXPECT_THAT(remarks[1].remedy, HasSubstr("gpulse --demo"));
}

}  // namespace
}  // namespace gpulse::insight
