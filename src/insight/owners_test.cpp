// SPDX-License-Identifier: Apache-2.0
#include "insight/owners.hpp"

#include <gtest/gtest.h>

namespace gpulse::insight {
namespace {

Device device(std::uint32_t index, const std::string &uuid, const std::string &pci = "") {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = uuid;
  identity->pci = pci;
  Device made;
  made.id.index = index;
  made.identity = identity;
  return made;
}

struct Who {
  std::string user, job, pod, container, account = "";
};

Process process(std::uint32_t index, const Who &who, double bytes = 1) {
  TextRow texts(Scope::process);
  texts[process_metric("user")] = who.user;
  if (!who.job.empty()) texts[process_metric("job")] = who.job;
  if (!who.account.empty()) texts[process_metric("account")] = who.account;
  if (!who.pod.empty()) texts[process_metric("pod")] = who.pod;
  if (!who.container.empty()) texts[process_metric("container")] = who.container;
  Process made;
  made.device.index = index;
  made.row[process_metric("gpu_memory_bytes")] = bytes;
  made.texts = std::make_shared<TextRow>(std::move(texts));
  return made;
}

Owner owner(const std::string &user, const std::string &job = "", const std::string &pod = "",
            const std::string &space = "", const std::string &container = "") {
  return {.user = user, .job = job, .account = {}, .pod = pod, .pod_namespace = space, .container = container};
}

TEST(Owners, EachOnceAndTheLargestFirst) {
  Snapshot now;
  now.devices = {device(0, "GPU-a"), device(1, "GPU-b"), device(2, "GPU-c")};
  now.processes = {process(0, {"ann", "17", "", ""}, 10), process(0, {"bob", "", "", ""}, 15),
                   process(0, {"ann", "17", "", ""}, 10), process(2, {"cid", "", "uid-1", "0123ab"})};
  const auto all = owners(now, {});
  ASSERT_EQ(all.size(), 2U) << "nobody holds the second one";
  EXPECT_EQ(all[0].uuid, Text("GPU-a"));
  EXPECT_EQ(all[0].owners, (std::vector{owner("ann", "17"), owner("bob")}));
  EXPECT_EQ(all[1].uuid, Text("GPU-c"));
  EXPECT_EQ(all[1].owners, (std::vector{owner("cid", "", "uid-1", "", "0123ab")})) << "by the control group";
}

TEST(Owners, AJobIsChargedToItsAccount) {
  Snapshot now;
  now.devices = {device(0, "GPU-a")};
  now.processes = {process(0, {"ann", "17", "", "", "physics"}, 2), process(0, {"ann", "18", "", "", "biology"}, 1)};
  auto first = owner("ann", "17"), second = owner("ann", "18");
  first.account = "physics";
  second.account = "biology";
  EXPECT_EQ(owners(now, {}).at(0).owners, (std::vector{first, second}));
}

TEST(Owners, TheKubeletKnowsTheNamesOfThePod) {
  Snapshot now;
  now.devices = {device(0, "GPU-a"), device(1, "other", "0000:03:00.0")};
  now.processes = {process(0, {"root", "", "uid-1", "0123ab"}), process(0, {"ann", "", "", ""}, 2)};
  const std::vector<PodDevice> pods{{"GPU-a", "research", "train-0", "main"}, {"0000:03:00.0", "web", "idle", "c"}};
  const auto all = owners(now, pods);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].owners, (std::vector{owner("ann"), owner("root", "", "train-0", "research", "main")}));
  EXPECT_EQ(all[1].owners, (std::vector{owner("", "", "idle", "web", "c")})) << "given away, and nobody on it";
}

TEST(Owners, OnASharedDeviceNobodySaysWhichProcessIsWhose) {
  Snapshot now;
  now.devices = {device(0, "GPU-a")};
  now.processes = {process(0, {"root", "", "uid-1", "0123ab"}, 5), process(0, {"root", "", "uid-2", "4567cd"}, 5)};
  const std::vector<PodDevice> pods{{"GPU-a::0", "research", "a", "main"}, {"GPU-a::1", "research", "b", "main"}};
  EXPECT_EQ(owners(now, pods).at(0).owners, (std::vector{owner("root"), owner("", "", "a", "research", "main"),
                                                         owner("", "", "b", "research", "main")}));
}

TEST(Owners, BeyondEightTheyAreOthers) {
  Snapshot now;
  now.devices = {device(0, "GPU-a")};
  for (int i = 0; i < 20; ++i) now.processes.push_back(process(0, {"user" + std::to_string(i), "", "", ""}, i));
  const auto all = owners(now, {}).at(0).owners;
  ASSERT_EQ(all.size(), kMostOwners + 1);
  EXPECT_EQ(all.front(), owner("user19"));
  EXPECT_EQ(all.back(), owner("(others)"));
}

}  // namespace
}  // namespace gpulse::insight
