// SPDX-License-Identifier: Apache-2.0
#include "pick/visible.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "pick/testing.hpp"

namespace gpulse::pick {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// As nvidia-smi -L prints them: two that share their first five digits, and one that shares only the first with those.
const std::vector<std::string> kUuids{
    "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-9e8d35e3-1f2b-4c3d-8e4f-5a6b7c8d9e0f",
    "GPU-47a1c2d3-e4f5-4061-9273-849506a7b8c9", "GPU-9e8d3fff-0a1b-4c2d-8e3f-4a5b6c7d8e9f",
    "GPU-1c64ab29-4b8f-4dd1-8f5e-2b3c4d5e6f70", "GPU-5d3e2f1a-6b7c-4d8e-9f0a-1b2c3d4e5f60",
    "GPU-6f5e4d3c-2b1a-4f0e-8d9c-7b6a5f4e3d2c", "GPU-b0a1c2d3-4e5f-4a6b-8c7d-9e8f0a1b2c3d"};

std::vector<Device> eight() {
  std::vector<Device> devices;
  for (std::uint32_t i = 0; i < kUuids.size(); ++i) devices.push_back(make_device(i, kUuids[i]));
  return devices;
}

Visible with_mask(const std::string &mask) {
  return visible_to_cuda(eight(), environment_of({{"CUDA_VISIBLE_DEVICES", mask}}));
}

struct Row {
  std::string mask;
  std::vector<std::size_t> devices;
};

// From NVIDIA's documentation and what an H200's cuInit did with each.
TEST(VisibleToCuda, EveryKindOfMask) {
  const std::string full = kUuids[0];
  const std::vector<Row> rows{
      {"", {}},
      {"-1", {}},
      {"one,two", {}},
      {"none", {}},
      {"NoDevFiles", {}},
      {"0", {0}},
      {"0,", {0}},
      {"2,1", {2, 1}},
      {"0,2,-1,1", {0, 2}},
      {"1,99,0", {1}},
      {"8,0", {}},
      {"99999999999999999999,0", {}},
      {"0,1,2,1", {}},
      {"0,0", {}},
      {"0,,0", {0}},
      {"0,,1", {0}},
      {",0", {}},
      {"1gpu2,2ampere", {1, 2}},
      {"0gpu", {0}},
      {"+3,-0", {3, 0}},
      {" 0", {0}},
      {" 3 , 1 ", {3, 1}},
      {"+", {}},
      {"- 1", {}},
      {full, {0}},
      {full.substr(0, 12), {0}},
      {"GPU-8932f937", {0}},
      {"GPU-8", {0}},
      {"GPU-47,GPU-8932f937", {2, 0}},
      {"GPU-", {}},
      {"GPU-9e8", {}},                         // begins two of them
      {"GPU-47,GPU-9e8,GPU-8", {2}},           // and so it ends the list
      {"GPU-9e8d35e3,GPU-47,GPU-9e8d35", {}},  // a duplicate by its beginning
      {full + "," + full.substr(0, 12), {}},
      {full + ",0", {0}},
      {"2," + full, {2}},
      {"gpu-8932f937", {}},
      {"GPU-8932F937-D72C", {0}},
      {"GPU-zzz", {}},
      {full + ", " + full, {0}},  // the blank makes the second invalid, so that it is no duplicate
      {full + "x", {0}},          // as CUDA does: what follows a whole UUID is not looked at
      {full + " ", {0}},
      {"4294967296", {0}},  // 2^32 is 0 in 32 bits
      {"4294967298,0", {2, 0}},
      {"2147483648", {}},
      {"99999999999999999999999", {}},
      {"MIG-x", {}},
      {"0,MIG-x", {0}},
  };
  for (const auto &[mask, devices] : rows) {
    const auto seen = with_mask(mask);
    EXPECT_EQ(seen.devices, devices) << mask;
    EXPECT_EQ(seen.allowed, devices) << mask;
    EXPECT_EQ(seen.problem.empty(), !devices.empty()) << mask;
    EXPECT_EQ(seen.method, Method::mask);
  }
}

TEST(VisibleToCuda, AllWithoutAMask) {
  const auto seen = visible_to_cuda(eight(), environment_of({}));
  EXPECT_THAT(seen.devices, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(word(seen.method), "no mask");
  EXPECT_THAT(seen.ignored, IsEmpty());
}

TEST(VisibleToCuda, WhatShowsNothingIsExplained) {
  const auto reason = [](const std::string &mask) {
    const auto seen = with_mask(mask);
    return seen.ignored.empty() ? std::string("nothing is ignored") : seen.ignored.front().reason;
  };
  EXPECT_THAT(reason("1,99"), HasSubstr("8 GPUs, counted from 0"));
  EXPECT_THAT(reason("-1"), HasSubstr("negative"));
  EXPECT_THAT(reason("0,,1"), HasSubstr("empty"));
  EXPECT_THAT(reason("gpu-8932"), HasSubstr("capitals"));
  EXPECT_THAT(reason("GPU-9e8"), HasSubstr("more than one"));
  EXPECT_THAT(reason("GPU-zz"), HasSubstr("no GPU with this UUID"));
  EXPECT_THAT(reason("GPU-8, GPU-4"), HasSubstr("blank"));
  EXPECT_THAT(reason("0,GPU-8"), HasSubstr("do not mix"));
  EXPECT_THAT(reason("first"), HasSubstr("neither a number nor a UUID"));
  EXPECT_THAT(with_mask("1,1").problem, HasSubstr("101"));
  EXPECT_THAT(with_mask("").problem, HasSubstr("hides every GPU"));
  const auto behind = with_mask("0,x,1,\x1b[31m");
  ASSERT_EQ(behind.ignored.size(), 3U);
  EXPECT_EQ(behind.ignored[1].reason, "stands behind \"x\", which ends the list");
  EXPECT_FALSE(behind.ignored[2].entry.contains("\x1b"));
}

TEST(VisibleToCuda, AMaskOfAnyLengthIsReadInBoundedMemory) {
  std::string mask = "x";
  for (int i = 0; i < 30'000; ++i) mask += ",1";
  EXPECT_LE(with_mask(mask).ignored.size(), 64U);
}

TEST(VisibleToCuda, NoGpuIsNoProblemOfAMask) {
  const auto seen = visible_to_cuda({}, environment_of({{"CUDA_VISIBLE_DEVICES", "0"}}));
  EXPECT_THAT(seen.devices, IsEmpty());
  EXPECT_EQ(seen.problem, "");
}

// A slow card first on the bus: CUDA puts the fast one first.
std::vector<Device> unlike() {
  return {make_device(0, "GPU-aa", "nvidia", "NVIDIA T400"), make_device(1, "GPU-bb", "nvidia", "NVIDIA H200")};
}

TEST(VisibleToCuda, UnlikeCardsStandInCudasOwnOrder) {
  int asked = 0;
  const CudaOrder ask = [&]() -> Result<std::vector<std::string>> {
    ++asked;
    return std::vector<std::string>{"GPU-bb", "GPU-aa"};
  };
  const auto all = visible_to_cuda(unlike(), environment_of({}), ask);
  EXPECT_THAT(all.devices, ElementsAre(1, 0));
  EXPECT_EQ(word(all.method), "asked CUDA");
  EXPECT_THAT(visible_to_cuda(unlike(), environment_of({{"CUDA_VISIBLE_DEVICES", "0"}}), ask).devices, ElementsAre(1));
  EXPECT_EQ(asked, 2);
  // Where the order has no say, nobody is asked.
  EXPECT_THAT(visible_to_cuda(unlike(), environment_of({{"CUDA_VISIBLE_DEVICES", "GPU-a"}}), ask).devices,
              ElementsAre(0));
  EXPECT_THAT(visible_to_cuda(unlike(), environment_of({{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}), ask).devices,
              ElementsAre(0, 1));
  EXPECT_THAT(visible_to_cuda(eight(), environment_of({{"CUDA_VISIBLE_DEVICES", "1"}}), ask).devices, ElementsAre(1));
  EXPECT_EQ(asked, 2);
}

TEST(VisibleToCuda, AnOrderThatNobodyKnowsIsNoSilentGuess) {
  const CudaOrder broken = [] { return Result<std::vector<std::string>>(failure("cuInit says 999")); };
  const auto all = visible_to_cuda(unlike(), environment_of({}), broken);
  EXPECT_THAT(all.devices, ElementsAre(0, 1));
  EXPECT_EQ(word(all.method), "order guessed");
  EXPECT_THAT(all.problem, HasSubstr("cuInit says 999"));
  EXPECT_FALSE(all.uncertain);
  EXPECT_TRUE(visible_to_cuda(unlike(), environment_of({{"CUDA_VISIBLE_DEVICES", "1"}})).uncertain);
}

// GPU 0 is split in two, GPU 1 is whole, GPU 2 is in MIG mode without an instance, GPU 3 is split too.
std::vector<Device> split_machine() {
  std::vector<Device> devices;
  for (std::uint32_t i = 0; i < 4; ++i) {
    auto device = make_device(i, kUuids[i]);
    device.row[device_metric("mig_mode")] = i == 1 ? 0 : 1;
    devices.push_back(device);
    if (i == 0) {
      devices.push_back(make_instance(device, 0, "MIG-1ab2c3d4-0001-5aaa-8bbb-000000000001", 1, 0));
      devices.push_back(make_instance(device, 1, "MIG-1ab2c3d4-0002-5aaa-8bbb-000000000002", 2, 0));
    }
    if (i == 3) devices.push_back(make_instance(device, 0, "MIG-77778888-0003-5aaa-8bbb-000000000003", 7, 1));
  }
  return devices;
}

TEST(VisibleToCuda, AProcessSeesOneInstanceAndNothingBesideIt) {
  const auto devices = split_machine();
  struct MigRow {
    std::optional<std::string> mask;
    std::vector<std::size_t> shown, allowed;
  };
  const std::vector<MigRow> rows{
      {std::nullopt, {1}, {3, 1, 2, 6}},
      {"0", {1}, {1, 2}},
      {"1", {3}, {3}},
      {"0,1", {1}, {3, 1, 2}},
      {"1,0", {1}, {3, 1, 2}},
      {"2", {}, {}},
      {"2,1", {3}, {3}},
      {kUuids[3], {6}, {6}},
      {"MIG-1ab2c3d4-0002-5aaa-8bbb-000000000002", {2}, {2}},
      {"MIG-1ab2c3d4-0002-5aaa-8bbb-000000000002,MIG-77778888-0003-5aaa-8bbb-000000000003", {2}, {2, 6}},
      {"MIG-1AB2C3D4-0002-5AAA-8BBB-000000000002", {2}, {2}},
      {"MIG-1ab2c3d4", {}, {}},
      {"MIG-" + kUuids[0] + "/2/0", {2}, {2}},
      {"MIG-" + kUuids[3] + "/7/1", {6}, {6}},
      {"MIG-" + kUuids[3] + "/7/0", {}, {}},
      {"MIG-" + kUuids[3] + "/7", {}, {}},
      {"MIG-77778888-0003-5aaa-8bbb-000000000003,1", {6}, {6}},
  };
  for (const auto &[mask, shown, allowed] : rows) {
    const auto seen =
        visible_to_cuda(devices, mask ? environment_of({{"CUDA_VISIBLE_DEVICES", *mask}}) : environment_of({}));
    EXPECT_EQ(seen.devices, shown) << mask.value_or("unset");
    EXPECT_EQ(seen.allowed, allowed) << mask.value_or("unset");
  }
}

TEST(VisibleToCuda, InstancesOfOldDriversGoByTheirOldNames) {
  auto whole = make_device(0, kUuids[0]);
  whole.row[device_metric("mig_mode")] = 1;
  auto part = make_instance(whole, 0, "MIG-" + kUuids[0] + "/1/0", 1, 0);
  part.details = nullptr;
  const std::vector devices{whole, part};
  const auto see = [&](const std::string &mask) {
    return visible_to_cuda(devices, environment_of({{"CUDA_VISIBLE_DEVICES", mask}}));
  };
  EXPECT_THAT(see("MIG-" + kUuids[0] + "/1/0").devices, ElementsAre(1));
  EXPECT_THAT(see("MIG-" + kUuids[0] + "/2/0").ignored.front().reason, HasSubstr("not read"));
}

std::vector<Device> four_radeons() {
  return {make_device(0, "GPU-1000aaaa1111bbbb", "amd"), make_device(1, "GPU-2000aaaa1111bbbb", "amd"),
          make_device(2, "GPU-2fffaaaa1111bbbb", "amd"), make_device(3, "PCI-0000:44:00.0", "amd")};
}

TEST(VisibleToHip, TheRuntimesMaskComesBeforeHips) {
  struct HipRow {
    std::map<std::string, std::string> variables;
    std::vector<std::size_t> devices;
  };
  const std::string rocr = "ROCR_VISIBLE_DEVICES", hip = "HIP_VISIBLE_DEVICES", cuda = "CUDA_VISIBLE_DEVICES";
  const std::vector<HipRow> rows{
      {{}, {0, 1, 2, 3}},
      {{{rocr, ""}}, {}},
      {{{hip, ""}}, {0, 1, 2, 3}},
      {{{hip, "-1"}}, {}},
      {{{rocr, "2,0"}}, {2, 0}},
      {{{rocr, "2,0"}, {hip, "1"}}, {0}},
      {{{rocr, " 1 , 0x2"}}, {1, 2}},
      {{{rocr, "0,GPU-2000AAAA1111BBBB"}}, {0, 1}},
      {{{rocr, "gpu-1"}}, {0}},
      {{{rocr, "GPU-2"}}, {}},
      {{{rocr, "0,0,1"}}, {0}},
      {{{rocr, "0,7,1"}}, {0}},
      {{{rocr, "1x"}}, {}},
      {{{hip, "0,2,0,1"}}, {0, 2, 1}},
      {{{hip, "0, 1"}}, {0}},
      {{{hip, "+1"}}, {}},
      {{{hip, "0,,1"}}, {0}},
      {{{hip, "1,"}}, {1}},
      {{{hip, "GPU-2fff"}}, {2}},
      {{{cuda, "3"}}, {3}},
      {{{cuda, "3"}, {hip, "1"}}, {1}},
      {{{cuda, "3"}, {hip, ""}}, {3}},
  };
  for (const auto &[variables, devices] : rows) {
    const auto seen = visible_to_hip(four_radeons(), environment_of(variables));
    EXPECT_EQ(seen.devices, devices) << testing::PrintToString(variables);
    EXPECT_EQ(seen.problem.empty(), !devices.empty());
  }
}

TEST(VisibleToHip, PartsOfADeviceAreNumberedOnTheirOwn) {
  const auto whole = make_device(0, "GPU-1000aaaa1111bbbb", "amd");
  const std::vector devices{whole, make_instance(whole, 0, "GPU-1000aaaa1111bbbb/CPX 0", 0, 0),
                            make_instance(whole, 1, "GPU-1000aaaa1111bbbb/CPX 1", 0, 0)};
  EXPECT_THAT(visible_to_hip(devices, environment_of({})).devices, ElementsAre(1, 2));
  EXPECT_THAT(visible_to_hip(devices, environment_of({{"ROCR_VISIBLE_DEVICES", "1"}})).devices, ElementsAre(2));
  // They have one UUID, which therefore names none.
  EXPECT_THAT(visible_to_hip(devices, environment_of({{"ROCR_VISIBLE_DEVICES", "GPU-1000aaaa1111bbbb"}})).devices,
              IsEmpty());
}

TEST(VisibleToLevelZero, TheMaskIsASetOfCards) {
  const std::vector devices{make_device(0, "PCI-0", "intel", "Intel Arc A770"),
                            make_device(1, "PCI-1", "intel", "Intel NPU"),
                            make_device(2, "PCI-2", "intel", "Intel Arc B580")};
  const auto see = [&](std::map<std::string, std::string> variables) {
    return visible_to_level_zero(devices, environment_of(std::move(variables)));
  };
  EXPECT_THAT(see({}).devices, ElementsAre(0, 2));
  EXPECT_THAT(see({{"ZE_AFFINITY_MASK", ""}}).devices, ElementsAre(0, 2));
  EXPECT_THAT(see({{"ZE_AFFINITY_MASK", "1"}}).devices, ElementsAre(2));
  EXPECT_THAT(see({{"ZE_AFFINITY_MASK", "1,0"}}).devices, ElementsAre(0, 2));
  EXPECT_THAT(see({{"ZE_AFFINITY_MASK", "5,0"}}).devices, ElementsAre(0));
  EXPECT_THAT(see({{"ZE_AFFINITY_MASK", "5"}}).problem, HasSubstr("ZE_AFFINITY_MASK"));
  EXPECT_THAT(see({{"ZE_AFFINITY_MASK", "1.0"}}).ignored.front().reason, HasSubstr("COMPOSITE"));
  EXPECT_THAT(see({{"ZE_AFFINITY_MASK", "1.0"}, {"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"}}).devices, ElementsAre(2));
}

TEST(Visible, EachVendorHasItsOwnVariable) {
  const std::vector devices{make_device(0, "GPU-1000aaaa1111bbbb", "amd"), make_device(1, kUuids[0]),
                            make_device(2, "PCI-0", "intel", "Intel Arc A770")};
  EXPECT_THAT(visible(devices, environment_of({})).devices, ElementsAre(1, 0, 2));
  // HIP reads CUDA's variable too where it has none of its own.
  const auto seen = visible(devices, environment_of({{"CUDA_VISIBLE_DEVICES", kUuids[0]}}));
  EXPECT_THAT(seen.devices, ElementsAre(1, 2));
  EXPECT_THAT(seen.problem, HasSubstr("AMD"));
}

// Whatever a mask holds, each device is shown once at most, and a process sees one instance at most.
TEST(Visible, AnyMaskAtAll) {
  auto devices = split_machine();
  for (auto &radeon : four_radeons()) devices.push_back(std::move(radeon));
  devices.push_back(make_device(8, "PCI-0", "intel", "Intel Arc A770"));
  const std::vector<std::string> pieces{"0",    "1",    "7",    "-",        "+",        ",",       ",", ",",
                                        " ",    "GPU-", "MIG-", "MIG-GPU-", "8932f937", "/",       "x", ".",
                                        "\xff", "9e8",  "2",    kUuids[1],  "/2/0",     "77778888"};
  std::mt19937 random(20261116);
  for (int round = 0; round < 5'000; ++round) {
    std::string mask;
    for (auto left = random() % 8; left > 0; --left) mask += pieces[random() % pieces.size()];
    const auto seen = visible(
        devices,
        environment_of({{"CUDA_VISIBLE_DEVICES", mask}, {"ROCR_VISIBLE_DEVICES", mask}, {"ZE_AFFINITY_MASK", mask}}));
    auto sorted = seen.devices;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << mask;
    EXPECT_TRUE(sorted.empty() || sorted.back() < devices.size());
    const auto parts = std::count_if(sorted.begin(), sorted.end(), [&](std::size_t i) {
      return devices[i].is_instance() && devices[i].identity->vendor == "nvidia";
    });
    EXPECT_LE(parts, 1) << mask;
  }
}

}  // namespace
}  // namespace gpulse::pick
