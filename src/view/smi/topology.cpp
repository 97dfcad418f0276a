// SPDX-License-Identifier: Apache-2.0
#include "view/smi/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace gpulse::view::smi {

namespace {

constexpr std::string_view kSelf = " X ";

MetricId list_of(bool links) { return links ? device_metric("topology") : device_metric("pcie_topology"); }

// What a list such as "0 X, 1 NV18, 2 SYS" says of a device; empty: nothing.
std::string listed(const Device &from, MetricId list, std::size_t to) {
  const auto text = text_reading(from, list);
  if (!text) return {};
  for (const auto piece : split(text.value(), ',')) {
    const auto words = split_words(piece);
    if (words.size() == 2 && parse_integer<std::size_t>(words[0]) == to) return std::string(words[1]);
  }
  return {};
}

// The number of a device in such lists: sources count their whole devices, also those that are lost.
std::size_t number_of(const Snapshot &snapshot, const Device &device) {
  return static_cast<std::size_t>(std::ranges::count_if(snapshot.devices, [&](const Device &other) {
    return other.identity->source == device.identity->source && !other.is_instance() && other.id < device.id;
  }));
}

std::string connection(const Snapshot &snapshot, const Device &from, const Device &to, bool links) {
  if (from.identity->source != to.identity->source) return "N/A";
  const auto word = listed(from, list_of(links), number_of(snapshot, to));
  return word.empty() || word == "?" ? "N/A" : word;
}

std::string text_of(const Device &device, MetricId id) { return cell(device, id, kCount).text; }

std::string device_row(const Selection &selection, std::size_t place, bool links,
                       std::span<const TopologyAdapter> adapters) {
  const auto &devices = selection.devices;
  const auto &device = *devices[place];
  auto row = fmt::format("GPU{}\t", device.id.index);
  for (std::size_t to = 0; to < devices.size(); ++to) {
    row += fmt::format("{}\t", to == place ? kSelf : connection(*selection.snapshot, device, *devices[to], links));
  }
  for (const auto &adapter : adapters) row += fmt::format("{}\t", adapter.to_devices[place]);
  return row + fmt::format("{}\t{}\t\t{}\n", text_of(device, device_metric("cpu_affinity")),
                           text_of(device, detail_metric("memory_affinity")),
                           text_of(device, detail_metric("gpu_numa_node")));
}

// The columns that only devices have stay empty.
std::string adapter_row(const TopologyAdapter &adapter, std::size_t place) {
  auto row = fmt::format("NIC{}\t", place);
  for (const auto &way : adapter.to_devices) row += way + "\t";
  for (std::size_t to = 0; to < adapter.to_adapters.size(); ++to) {
    row += fmt::format("{}\t", to == place ? kSelf : adapter.to_adapters[to]);
  }
  return row + "\t\t\t\n";
}

}  // namespace

MetricSet needs_of_topology(bool links) {
  return {list_of(links), device_metric("cpu_affinity"), detail_metric("memory_affinity"),
          detail_metric("gpu_numa_node")};
}

std::string topology_matrix(const Selection &selection, bool links, std::span<const TopologyAdapter> adapters) {
  const auto &devices = selection.devices;
  std::string out = "\t\x1B[4m";
  for (const auto *device : devices) out += fmt::format("GPU{}\t", device->id.index);
  for (std::size_t i = 0; i < adapters.size(); ++i) out += fmt::format("NIC{}\t", i);
  out += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1B[0m\n";
  for (std::size_t i = 0; i < devices.size(); ++i) out += device_row(selection, i, links, adapters);
  for (std::size_t i = 0; i < adapters.size(); ++i) out += adapter_row(adapters[i], i);
  out +=
      "\nLegend:\n\n"
      "  X    = Self\n"
      "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
      "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
      "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
      "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
      "  PIX  = Connection traversing at most a single PCIe bridge\n";
  if (links) out += "  NV#  = Connection traversing a bonded set of # NVLinks\n";
  if (adapters.empty()) return out;
  out += "\nNIC Legend:\n\n";
  for (std::size_t i = 0; i < adapters.size(); ++i) out += fmt::format("  NIC{}: {}\n", i, adapters[i].name);
  return out + "\n";
}

}  // namespace gpulse::view::smi
