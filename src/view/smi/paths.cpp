// SPDX-License-Identifier: Apache-2.0
#include "view/smi/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"

namespace gpulse::view::smi {

namespace {

constexpr auto kPaths = device_metric("pcie_topology");

struct Level {
  std::string_view word, phrase;
};
constexpr std::array<Level, kPathLevels> kLevels{{
    {"internal", "by way of an single on-board PCIe switch"},
    {"PIX", "by way of a single PCIe switch"},
    {"PXB", "by way of potentially multiple PCIe switches"},
    {"PHB", "by the same PCIe host bridge"},
    {"NODE", "by way of an on-CPU interconnect between PCIe host bridges"},
    {"SYS", "by way of an SMP interconnect link between NUMA nodes"},
}};

std::optional<std::size_t> place_of(const Selection &selection, std::uint32_t number) {
  for (std::size_t i = 0; i < selection.devices.size(); ++i) {
    if (selection.devices[i]->id.index == number) return i;
  }
  return std::nullopt;
}

// From a list such as "0 X, 1 PIX, 2 SYS".
std::string path_between(const Selection &selection, std::size_t from, std::size_t to) {
  const auto text = text_reading(*selection.devices[from], kPaths);
  if (!text) return "";
  for (const auto piece : split(text.value(), ',')) {
    const auto words = split_words(piece);
    if (words.size() == 2 && parse_integer<std::size_t>(words[0]) == to) return std::string(words[1]);
  }
  return "";
}

}  // namespace

MetricSet needs_of_paths() { return {kPaths}; }

std::string nearest_text(const Selection &selection, std::uint32_t device, std::uint32_t level) {
  const auto from = place_of(selection, device);
  const auto &[word, phrase] = kLevels[level];
  std::string near;
  for (std::size_t to = 0; from && to < selection.devices.size(); ++to) {
    if (to == *from || path_between(selection, *from, to) != word) continue;
    near += fmt::format("{}{}", near.empty() ? "" : ", ", selection.devices[to]->id.index);
  }
  if (near.empty()) return fmt::format("Device {} is not connected to other devices {}.\n\n", device, phrase);
  return fmt::format("Device {} is connected {} to device(s): {}\n\n", device, phrase, near);
}

std::string path_text(const Selection &selection, std::uint32_t from, std::uint32_t to) {
  const auto first = place_of(selection, from);
  const auto second = place_of(selection, to);
  const auto word = first && second ? path_between(selection, *first, *second) : "";
  const auto level = std::find_if(kLevels.begin(), kLevels.end(), [&](const Level &one) { return one.word == word; });
  const std::string_view phrase = level != kLevels.end() ? level->phrase : "by an unknown path";
  return fmt::format("Device {} is connected to device {} {}.\n", from, to, phrase);
}

MetricSet needs_of_nodes() { return {detail_metric("memory_affinity"), detail_metric("gpu_numa_node")}; }

std::string near_memory(const Device &device) { return cell(device, detail_metric("memory_affinity"), kCount).text; }

std::string own_node(const Device &device) { return cell(device, detail_metric("gpu_numa_node"), kCount).text; }

}  // namespace gpulse::view::smi
