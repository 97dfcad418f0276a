// SPDX-License-Identifier: Apache-2.0
// The devices and processes that the kernel's compute driver lists (KFD, the base of ROCm). It is the only place that
// shows work that bypasses the graphics driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sysroot.hpp"
#include "source/api/source.hpp"

namespace gpulse::amdgpu {

struct KfdLink {
  std::uint32_t to = 0;  // number of the node
  bool xgmi = false;     // else over PCIe
  bool operator==(const KfdLink &) const = default;
};

struct KfdNode {
  std::string folder;
  std::uint32_t number = 0;
  std::uint64_t gpu_id = 0;  // 0: unknown
  std::uint64_t unique_id = 0, hive = 0;
  std::uint32_t vendor = 0, product = 0, domain = 0, location = 0, render_minor = 0;
  std::uint32_t compute_units = 0, gfx_target = 0;
  std::vector<KfdLink> links;
  bool operator==(const KfdNode &) const = default;

  // 0000:05:00.3; for a part of a chip the function is its number.
  std::string pci() const;
  std::uint32_t function() const { return location & 7U; }
};

// Parses a node's `properties`; none when it is not a GPU.
std::optional<KfdNode> parse_node(std::string_view properties);

// The nodes that are GPUs, by number.
std::vector<KfdNode> list_nodes(const Sysroot &root);

// "gfx90a" for 90010; empty for 0.
std::string target_name(std::uint32_t gfx_target);

// The nodes of one chip: several when it is split.
using KfdGroup = std::vector<KfdNode>;
std::vector<KfdGroup> group_by_chip(std::vector<KfdNode> nodes);

struct NodeMemory {
  Reading total_bytes = Reason::not_supported, used_bytes = Reason::not_supported;
};
NodeMemory read_node_memory(const Sysroot &root, const KfdNode &node);

// Adds what KFD's processes use on the device: to the process that is already listed, if both pids are from the same
// namespace. The kernel does not count engine time for work sent through KFD: where there may be any, the utilisation
// of the processes and the engines of the device are unknown.
void add_compute_processes(const Sysroot &root, const std::vector<KfdNode> &nodes, Frame &frame);

}  // namespace gpulse::amdgpu
