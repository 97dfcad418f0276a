// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/kfd.hpp"

#include <gtest/gtest.h>

#include "source/amdgpu/fake_card.hpp"

namespace gpulse::amdgpu {

namespace {

// One part of an MI300X: 38 compute units at 0000:03:00.FUNCTION.
std::string part(unsigned function, std::uint64_t unique_id = 0xabcdef) {
  return fmt::format(
      "simd_count 152\nsimd_per_cu 4\ngfx_target_version 90402\nvendor_id 4098\ndevice_id 29857\nlocation_id {}\n"
      "domain 0\ndrm_render_minor {}\nunique_id {}\n",
      0x300 + function, 128 + function, unique_id);
}

void use(const FakeCard &card, unsigned pid, unsigned gpu_id, std::uint64_t bytes, unsigned units) {
  const auto folder = fmt::format("/sys/class/kfd/kfd/proc/{}", pid);
  card.folder().write(fmt::format("{}/vram_{}", folder, gpu_id), std::to_string(bytes) + "\n");
  card.folder().write(fmt::format("{}/stats_{}/cu_occupancy", folder, gpu_id), std::to_string(units) + "\n");
}

TEST(KfdNodes, AreNamedByTheirTarget) {
  EXPECT_EQ(target_name(90402), "gfx942");
  EXPECT_EQ(target_name(90010), "gfx90a");
  EXPECT_EQ(target_name(110003), "gfx1103");
  EXPECT_EQ(target_name(0), "");
}

TEST(KfdNodes, AreGpusOnlyWithProcessorsOfTheirOwn) {
  EXPECT_FALSE(parse_node("cpu_cores_count 96\nsimd_count 0\nvendor_id 0\n"));
  EXPECT_FALSE(parse_node(""));
  const auto node = parse_node(part(3));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->compute_units, 38U);
  EXPECT_EQ(node->pci(), "0000:03:00.3");
  EXPECT_EQ(node->render_minor, 131U);
}

TEST(KfdNodes, OfOneChipBelongTogether) {
  std::vector<KfdNode> nodes;
  for (const auto &[function, chip] : {std::pair(1U, 7U), {0U, 7U}, {0U, 8U}, {1U, 8U}}) {
    nodes.push_back(*parse_node(part(function, chip)));
  }
  const auto groups = group_by_chip(nodes);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0][0].pci(), "0000:03:00.0");
  EXPECT_EQ(groups[0][1].pci(), "0000:03:00.1");
}

TEST(KfdPartitions, StandAsDevicesBelowTheirChip) {
  FakeCard card("74A1");
  card.write("unique_id", "0000000000abcdef\n");
  card.write("current_compute_partition", "DPX\n");
  card.write("gpu_busy_percent", "50\n");
  auto table = Table(1664, 1, 6).u16(306, 2).u32(312, 90).u32(316, 70).u32(312 + 168, 20);
  card.write("gpu_metrics", table.bytes());
  card.add_node(2, part(0), 111);
  card.add_node(3, part(1), 222);
  card.folder().write("/sys/class/kfd/kfd/topology/nodes/3/mem_banks/0/properties",
                      "heap_type 1\nsize_in_bytes 51539607552\n");
  use(card, 4711, 222, 1000, 17);
  Sampled sampled(card);
  ASSERT_EQ(sampled.found.entities.size(), 3U);
  const auto &whole = *sampled.found.entities[0].identity;
  const auto &second = *sampled.found.entities[2].identity;
  EXPECT_EQ(whole.uuid, "GPU-0000000000abcdef");
  EXPECT_EQ(whole.parent, "");
  EXPECT_EQ(second.parent, whole.uuid);
  EXPECT_EQ(second.label, "DPX 1");
  EXPECT_EQ(second.uuid, whole.uuid + "/DPX 1");
  EXPECT_EQ(second.texts[device_metric("architecture")].value_or(""), "gfx942");
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(sampled.sample(i));
  constexpr auto kBusy = device_metric("gpu_utilization_percent");
  constexpr auto kUnits = device_metric("multiprocessor_count");
  EXPECT_EQ(sampled.frame(0).row[kBusy], Reading(50));
  EXPECT_EQ(sampled.frame(1).row[kBusy], Reading(80));
  EXPECT_EQ(sampled.frame(2).row[kBusy], Reading(20));
  EXPECT_EQ(sampled.frame(0).row[kUnits], Reading(76));
  EXPECT_EQ(sampled.frame(2).row[kUnits], Reading(38));
  EXPECT_EQ(sampled.frame(2).row[device_metric("memory_total_bytes")], Reading(51539607552));
  EXPECT_TRUE(sampled.frame(0).processes.empty()) << "they are listed with the part they work on";
  EXPECT_TRUE(sampled.frame(1).processes.empty());
  ASSERT_EQ(sampled.frame(2).processes.size(), 1U);
  EXPECT_EQ(sampled.frame(2).processes[0].pid, 4711U);
}

TEST(KfdPartitions, SleepWithTheirChip) {
  FakeCard card("74A1");
  card.add_node(2, part(0));
  card.add_node(3, part(1));
  Sampled sampled(card);
  ASSERT_TRUE(sampled.sample(1));
  card.write("power/runtime_status", "suspended\n");
  EXPECT_FALSE(sampled.sample(1));
}

TEST(KfdDevices, ThatNobodyElseShowsAreThere) {
  const FakeCard other("56A5", "xe");
  other.add_node(1, part(0), 5);
  other.folder().write("/sys/class/kfd/kfd/topology/nodes/1/mem_banks/0/properties",
                       "heap_type 1\nsize_in_bytes 17163091968\n");
  other.folder().write("/sys/class/kfd/kfd/topology/nodes/1/mem_banks/0/used_memory", "14102528\n");
  Sampled sampled(other);
  ASSERT_EQ(sampled.found.entities.size(), 1U);
  EXPECT_EQ(sampled.found.entities[0].identity->pci, "0000:03:00.0");
  EXPECT_EQ(sampled.found.entities[0].identity->uuid, "GPU-0000000000abcdef");
  ASSERT_TRUE(sampled.sample());
  EXPECT_EQ(sampled[device_metric("memory_used_bytes")], Reading(14102528));
  EXPECT_EQ(sampled[device_metric("memory_total_bytes")], Reading(17163091968));
  EXPECT_FALSE(sampled[device_metric("gpu_utilization_percent")]) << "nobody tells of ROCm's work";
}

TEST(KfdDevices, ThatComeAndGoAreChanges) {
  const FakeCard card;
  Sampled sampled(card);
  EXPECT_FALSE(sampled.source().changed());
  card.add_node(1, part(0));
  EXPECT_TRUE(sampled.source().changed());
}

TEST(KfdProcesses, AreMergedWithThoseOfTheGraphicsDriver) {
  const FakeCard card("74A1");
  card.add_node(1, part(0), 111);
  use(card, 10, 111, 5000, 12);
  use(card, 20, 111, 300, 0);
  use(card, 30, 999, 700, 4);
  use(card, 40, 111, 0, 0);
  Frame frame{Row(Scope::device), std::vector<ProcessUse>(1)};
  auto &processes = frame.processes;
  processes[0].pid = 10;
  processes[0].own_namespace = true;
  processes[0].types = static_cast<std::uint8_t>(ProcessType::graphics);
  processes[0].row[process_metric("gpu_memory_bytes")] = 6000;
  add_compute_processes(card.folder().root(), list_nodes(card.folder().root()), frame);
  ASSERT_EQ(processes.size(), 2U) << "30 works elsewhere, 40 holds nothing";
  EXPECT_EQ(processes[0].types, 3);
  EXPECT_EQ(processes[0].row[process_metric("gpu_memory_bytes")], Reading(6000)) << "the larger, not the sum";
  EXPECT_EQ(processes[0].row[process_metric("compute_units_used")], Reading(12));
  EXPECT_EQ(processes[1].pid, 20U);
  EXPECT_FALSE(processes[1].own_namespace);
  EXPECT_EQ(processes[1].row[process_metric("gpu_memory_bytes")], Reading(300));
}

// A process as the graphics driver tells of it: nothing counted for it, or the work of one engine.
ProcessUse client(std::uint32_t pid, double render_percent, std::uint8_t types) {
  ProcessUse use{.pid = pid, .own_namespace = true, .types = types};
  use.row[process_metric("render_utilization_percent")] = render_percent;
  use.row[process_metric("compute_utilization_percent")] = 0;
  use.row[process_metric("gpu_utilization_percent")] = render_percent;
  return use;
}

constexpr auto kGraphics = static_cast<std::uint8_t>(ProcessType::graphics);

struct KfdWork : testing::Test {
  KfdWork() {
    card.add_node(1, part(0), 111);
    frame.processes = {client(10, 0, 0), client(20, 30, kGraphics)};
    frame.row[device_metric("compute_utilization_percent")] = 0;
    frame.row[device_metric("copy_utilization_percent")] = 0;
    frame.row[device_metric("render_utilization_percent")] = 30;
  }
  void add() { add_compute_processes(card.folder().root(), list_nodes(card.folder().root()), frame); }
  Reading use_of(std::size_t process) const {
    return frame.processes[process].row[process_metric("gpu_utilization_percent")];
  }
  Reading engine(std::string_view name) const {
    return frame.row[name == "compute" ? device_metric("compute_utilization_percent")
                     : name == "copy"  ? device_metric("copy_utilization_percent")
                                       : device_metric("render_utilization_percent")];
  }

  FakeCard card{"74A1"};
  Frame frame{Row(Scope::device), {}};
};

TEST_F(KfdWork, IsNotCountedAndThereforeUnknown) {
  use(card, 10, 111, 5000, 0);
  add();
  EXPECT_TRUE(use_of(0).is(Reason::not_supported));
  EXPECT_TRUE(frame.processes[0].row[process_metric("compute_utilization_percent")].is(Reason::not_supported));
  EXPECT_EQ(use_of(1), Reading(30)) << "a process that only draws";
  EXPECT_TRUE(engine("compute").is(Reason::not_supported));
  EXPECT_TRUE(engine("copy").is(Reason::not_supported));
  EXPECT_EQ(engine("render"), Reading(30));
}

TEST_F(KfdWork, MayComeFromAQueueWithoutMemory) {
  card.folder().write("/sys/class/kfd/kfd/proc/10/queues/0/gpuid", "111\n");
  card.folder().write("/sys/class/kfd/kfd/proc/20/queues/0/gpuid", "999\n");
  add();
  EXPECT_TRUE(use_of(0).is(Reason::not_supported));
  EXPECT_EQ(frame.processes[0].types, static_cast<std::uint8_t>(ProcessType::compute));
  EXPECT_EQ(use_of(1), Reading(30)) << "its queue is on another device";
}

TEST_F(KfdWork, OfNobodyLeavesTheCountsAsTheyAre) {
  card.folder().make_folder("/sys/class/kfd/kfd/proc");
  add();
  EXPECT_EQ(use_of(0), Reading(0));
  EXPECT_EQ(engine("compute"), Reading(0));
}

TEST_F(KfdWork, IsPossibleWhereTheKernelDoesNotListIt) {
  add();
  EXPECT_TRUE(use_of(0).is(Reason::not_supported));
  EXPECT_EQ(use_of(1), Reading(30));
  EXPECT_TRUE(engine("compute").is(Reason::not_supported));
}

TEST_F(KfdWork, OfAnotherNamespaceMayBeAnybodys) {
  card.folder().link("/proc/self/ns/pid", "pid:[4026532000]");
  use(card, 4711, 111, 5000, 0);
  add();
  ASSERT_EQ(frame.processes.size(), 3U);
  EXPECT_TRUE(use_of(0).is(Reason::not_supported));
  EXPECT_EQ(use_of(1), Reading(30));
}

TEST(KfdTopology, TellsTheLinksBetweenDevices) {
  const FakeCard card("0000", "xe");
  const auto link = [&](unsigned from, unsigned number, unsigned to, unsigned type) {
    card.folder().write(fmt::format("/sys/class/kfd/kfd/topology/nodes/{}/io_links/{}/properties", from, number),
                        fmt::format("type {}\nnode_from {}\nnode_to {}\n", type, from, to));
  };
  for (unsigned i = 1; i <= 3; ++i) {
    card.add_node(i, fmt::format("simd_count 4\nsimd_per_cu 4\nvendor_id 4098\nlocation_id {}\n", i << 8U));
  }
  link(1, 0, 2, 11);
  link(1, 1, 3, 2);
  link(2, 0, 1, 11);
  Sampled sampled(card);
  ASSERT_EQ(sampled.found.entities.size(), 3U);
  const auto text = [&](std::size_t i) {
    return sampled.found.entities[i].identity->texts[device_metric("topology")].value_or("");
  };
  EXPECT_EQ(text(0), "0 X, 1 XGMI, 2 PCIE");
  EXPECT_EQ(text(1), "0 XGMI, 1 X, 2 ?");
}

}  // namespace

}  // namespace gpulse::amdgpu
