// SPDX-License-Identifier: Apache-2.0
#include "view/smi/topology.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace gpulse::view::smi {

namespace {

// The connection to a device, taken from a list such as "0 X, 1 NV18, 2 SYS".
std::string connection(const Device &from, std::size_t place, std::size_t to) {
  if (place == to) return " X ";
  const auto text = text_reading(from, device_metric("topology"));
  if (!text) return "N/A";
  for (const auto piece : split(text.value(), ',')) {
    const auto words = split_words(piece);
    if (words.size() == 2 && parse_integer<std::size_t>(words[0]) == to) return std::string(words[1]);
  }
  return "N/A";
}

std::string text_of(const Device &device, MetricId id) { return cell(device, id, kCount).text; }

}  // namespace

MetricSet needs_of_topology() {
  return {device_metric("topology"), device_metric("cpu_affinity"), detail_metric("memory_affinity"),
          detail_metric("gpu_numa_node")};
}

std::string topology_matrix(const Selection &selection, bool links) {
  const auto &devices = selection.devices;
  std::string out = "\t\x1B[4m";
  for (const auto *device : devices) out += fmt::format("GPU{}\t", device->index);
  out += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1B[0m\n";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    out += fmt::format("GPU{}\t", devices[i]->index);
    for (std::size_t j = 0; j < devices.size(); ++j) out += connection(*devices[i], i, j) + "\t";
    out += fmt::format("{}\t{}\t\t{}\n", text_of(*devices[i], device_metric("cpu_affinity")),
                       text_of(*devices[i], detail_metric("memory_affinity")),
                       text_of(*devices[i], detail_metric("gpu_numa_node")));
  }
  out +=
      "\nLegend:\n\n"
      "  X    = Self\n"
      "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
      "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
      "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
      "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
      "  PIX  = Connection traversing at most a single PCIe bridge\n";
  if (links) out += "  NV#  = Connection traversing a bonded set of # NVLinks\n";
  return out;
}

}  // namespace gpulse::view::smi
