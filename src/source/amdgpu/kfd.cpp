// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/kfd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "model/plausible.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::amdgpu {

namespace {

constexpr std::string_view kNodes = "/sys/class/kfd/kfd/topology/nodes";
constexpr std::string_view kProcesses = "/sys/class/kfd/kfd/proc";
constexpr std::uint32_t kXgmi = 11;
constexpr std::size_t kMaxText = 8192;

// Calls visit(key, number) for every line "key number".
template <class Visit>
void for_each_property(std::string_view text, Visit visit) {
  text = sysfs::bare(text);
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    const auto key = next_piece(line, ' ');
    if (const auto value = parse_integer<std::uint64_t>(sysfs::bare(line))) visit(key, *value);
  }
}

// Folders of nodes and processes are named by number.
std::optional<std::uint32_t> number_of(const std::string &folder) { return parse_integer<std::uint32_t>(folder); }

std::optional<std::uint64_t> read_count(const Sysroot &root, const std::string &path) {
  const auto text = root.read(path, 256);
  return text ? parse_integer<std::uint64_t>(sysfs::bare(*text)) : std::nullopt;
}

std::vector<KfdLink> read_links(const Sysroot &root, const std::string &node) {
  std::vector<KfdLink> links;
  for (const std::string_view kind : {"/io_links", "/p2p_links"}) {
    const auto folder = node + std::string(kind);
    for (const auto &name : root.list(folder)) {
      const auto text = root.read(folder + "/" + name + "/properties", kMaxText);
      if (!text) continue;
      KfdLink link;
      for_each_property(*text, [&](std::string_view key, std::uint64_t value) {
        if (key == "node_to") link.to = static_cast<std::uint32_t>(value);
        if (key == "type") link.xgmi = value == kXgmi;
      });
      links.push_back(link);
    }
  }
  return links;
}

// Bytes that the process holds on all parts of the device.
Reading read_sum(const Sysroot &root, const std::string &process, std::string_view file,
                 const std::vector<KfdNode> &nodes, MetricId metric) {
  Reading sum = Reason::not_supported;
  for (const auto &node : nodes) {
    if (node.gpu_id == 0) continue;
    const auto path = process + "/" + fmt::format(fmt::runtime(file), node.gpu_id);
    if (const auto value = read_count(root, path)) sum = sum.value_or(0) + static_cast<double>(*value);
  }
  return sum ? plausible(metric, sum.value()) : sum;
}

// Whether the process has a queue on the device, even if nothing runs in it at the moment.
bool has_queue(const Sysroot &root, const std::string &process, const std::vector<KfdNode> &nodes) {
  const auto folder = process + "/queues";
  const auto queues = root.list(folder);
  return std::any_of(queues.begin(), queues.end(), [&](const std::string &queue) {
    const auto gpu = read_count(root, folder + "/" + queue + "/gpuid");
    return gpu && *gpu != 0 &&
           std::any_of(nodes.begin(), nodes.end(), [&](const KfdNode &node) { return node.gpu_id == *gpu; });
  });
}

// KFD's work is done by these engines.
void withdraw_engines(Row &row) {
  for (const auto id : {process_metric("gpu_utilization_percent"), process_metric("compute_utilization_percent"),
                        process_metric("copy_utilization_percent")}) {
    row[id] = Reason::not_supported;
  }
}

Reading larger(const Reading &a, const Reading &b) {
  if (!a) return b;
  return b && b.value() > a.value() ? b : a;
}

}  // namespace

std::string KfdNode::pci() const {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, (location >> 8U) & 0xFFU, (location >> 3U) & 0x1FU,
                     function());
}

std::optional<KfdNode> parse_node(std::string_view properties) {
  KfdNode node;
  std::uint64_t simds = 0;
  std::uint64_t simds_per_unit = 0;
  const auto small = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  for_each_property(properties, [&](std::string_view key, std::uint64_t value) {
    if (key == "simd_count") simds = value;
    if (key == "simd_per_cu") simds_per_unit = value;
    if (key == "vendor_id") node.vendor = small(value);
    if (key == "device_id") node.product = small(value);
    if (key == "domain") node.domain = small(value);
    if (key == "location_id") node.location = small(value);
    if (key == "drm_render_minor") node.render_minor = small(value);
    if (key == "gfx_target_version") node.gfx_target = small(value);
    if (key == "unique_id") node.unique_id = value;
    if (key == "hive_id") node.hive = value;
  });
  if (simds == 0 || node.vendor == 0) return std::nullopt;
  if (simds_per_unit > 0) node.compute_units = small(simds / simds_per_unit);
  return node;
}

std::vector<KfdNode> list_nodes(const Sysroot &root) {
  std::vector<KfdNode> nodes;
  for (const auto &name : root.list(kNodes)) {
    const auto number = number_of(name);
    auto folder = fmt::format("{}/{}", kNodes, name);
    const auto text = number ? root.read(folder + "/properties", kMaxText) : std::nullopt;
    auto node = text ? parse_node(*text) : std::nullopt;
    if (!node) continue;
    node->number = *number;
    node->gpu_id = read_count(root, folder + "/gpu_id").value_or(0);
    node->links = read_links(root, folder);
    node->folder = std::move(folder);
    nodes.push_back(std::move(*node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const KfdNode &a, const KfdNode &b) { return a.number < b.number; });
  return nodes;
}

std::string target_name(std::uint32_t gfx_target) {
  if (gfx_target == 0) return {};
  return fmt::format("gfx{}{:x}{:x}", gfx_target / 10000, gfx_target / 100 % 100, gfx_target % 100);
}

std::vector<KfdGroup> group_by_chip(std::vector<KfdNode> nodes) {
  // The addresses of a split chip's parts differ only in the function.
  const auto chip = [](const KfdNode &node) {
    const auto place = node.unique_id == 0 ? node.location : node.location & ~7U;
    return std::tuple(node.domain, place, node.unique_id);
  };
  std::vector<KfdGroup> groups;
  for (auto &node : nodes) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const KfdGroup &group) { return chip(group.front()) == chip(node); });
    if (known == groups.end())
      groups.push_back({std::move(node)});
    else
      known->push_back(std::move(node));
  }
  for (auto &group : groups) {
    std::sort(group.begin(), group.end(), [](const KfdNode &a, const KfdNode &b) {
      return std::tie(a.location, a.number) < std::tie(b.location, b.number);
    });
  }
  return groups;
}

NodeMemory read_node_memory(const Sysroot &root, const KfdNode &node) {
  constexpr std::uint64_t kHost = 0;
  NodeMemory memory;
  const auto banks = node.folder + "/mem_banks";
  for (const auto &name : root.list(banks)) {
    const auto text = root.read(banks + "/" + name + "/properties", kMaxText);
    if (!text) continue;
    std::uint64_t heap = kHost;
    std::uint64_t bytes = 0;
    for_each_property(*text, [&](std::string_view key, std::uint64_t value) {
      if (key == "heap_type") heap = value;
      if (key == "size_in_bytes") bytes = value;
    });
    if (heap == kHost || bytes == 0) continue;
    memory.total_bytes = memory.total_bytes.value_or(0) + static_cast<double>(bytes);
    if (const auto used = read_count(root, banks + "/" + name + "/used_memory")) {
      memory.used_bytes = memory.used_bytes.value_or(0) + static_cast<double>(*used);
    }
  }
  return memory;
}

void add_compute_processes(const Sysroot &root, const std::vector<KfdNode> &nodes, Frame &frame) {
  constexpr auto kMemory = process_metric("gpu_memory_bytes");
  constexpr auto kUnits = process_metric("compute_units_used");
  if (nodes.empty()) return;
  auto &processes = frame.processes;
  const auto listed = root.list(kProcesses);
  const auto space = root.read_link("/proc/self/ns/pid");
  const bool first_namespace = space ? *space == "pid:[4026531836]" : !root.is_machine();
  // Old kernels do not list KFD's processes, or not by device.
  bool some_unmatched = !root.exists(kProcesses) ||
                        std::any_of(nodes.begin(), nodes.end(), [](const KfdNode &node) { return node.gpu_id == 0; });
  bool some_uncounted = false;
  const auto from_clients = processes.size();
  for (const auto &name : listed) {
    const auto pid = number_of(name);
    if (!pid) continue;
    const auto folder = fmt::format("{}/{}", kProcesses, name);
    const auto memory = read_sum(root, folder, "vram_{}", nodes, kMemory);
    const auto units = read_sum(root, folder, "stats_{}/cu_occupancy", nodes, kUnits);
    // KFD lists every process for every device: skip those that hold nothing here.
    if (memory.value_or(0) == 0 && units.value_or(0) == 0 && !has_queue(root, folder, nodes)) continue;
    auto known = std::find_if(processes.begin(), processes.end(),
                              [&](const ProcessUse &use) { return first_namespace && use.pid == *pid; });
    if (known == processes.end()) {
      processes.push_back({.pid = *pid});
      known = std::prev(processes.end());
    }
    known->types |= static_cast<std::uint8_t>(ProcessType::compute);
    // The graphics driver's count includes what KFD allocated for the same file, so the two must not be added.
    known->row[kMemory] = larger(known->row[kMemory], memory);
    known->row[kUnits] = units;
    withdraw_engines(known->row);
    some_uncounted = true;
    some_unmatched = some_unmatched || !first_namespace;
  }
  // One for which no engine has ever worked may be any of KFD's.
  for (std::size_t i = 0; some_unmatched && i < from_clients; ++i) {
    if (processes[i].types != 0) continue;
    withdraw_engines(processes[i].row);
    some_uncounted = true;
  }
  if (!some_uncounted) return;
  for (const auto id : {device_metric("compute_utilization_percent"), device_metric("copy_utilization_percent")}) {
    frame.row[id] = Reason::not_supported;
  }
}

}  // namespace gpulse::amdgpu
