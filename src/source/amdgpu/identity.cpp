// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/identity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "source/sysfs/attribute.hpp"

namespace gpulse::amdgpu {

namespace {

// A file in the device's own folder.
struct TextFile {
  std::string_view file;
  MetricId metric;
};
constexpr std::array kTexts{
    TextFile{"/serial_number", device_metric("serial")},
    TextFile{"/vbios_version", device_metric("vbios_version")},
    TextFile{"/product_number", device_metric("board_part_number")},
    TextFile{"/mem_info_vram_vendor", device_metric("memory_vendor")},
    TextFile{"/local_cpulist", device_metric("cpu_affinity")},
    TextFile{"/current_compute_partition", device_metric("compute_partition")},
    TextFile{"/current_memory_partition", device_metric("memory_partition")},
};

void put_text(DeviceIdentity &identity, MetricId metric, std::string text) {
  // The driver's placeholder for an unknown value.
  if (!text.empty() && text != "unknown" && text != "N/A") identity.texts[metric] = std::move(text);
}

void put_architecture(DeviceIdentity &identity, const KfdGroup &nodes) {
  if (!nodes.empty()) put_text(identity, device_metric("architecture"), target_name(nodes.front().gfx_target));
}

std::string unique_uuid(std::string_view number) {
  const bool zero = number.find_first_not_of('0') == std::string_view::npos;
  return zero ? std::string() : fmt::format("GPU-{}", number);
}

bool reaches(const KfdGroup &from, const KfdGroup &to, bool xgmi) {
  return std::any_of(from.begin(), from.end(), [&](const KfdNode &node) {
    return std::any_of(node.links.begin(), node.links.end(), [&](const KfdLink &link) {
      return link.xgmi == xgmi &&
             std::any_of(to.begin(), to.end(), [&](const KfdNode &other) { return other.number == link.to; });
    });
  });
}

}  // namespace

IdentityPtr identify_card(const Sysroot &root, const drm::Card &card, const KfdGroup &nodes, drm::Names &names,
                          bool texts) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = "amdgpu";
  identity->vendor = "amd";
  identity->pci = card.pci;
  identity->uuid = unique_uuid(sysfs::read_word(root, card.device + "/unique_id"));
  if (identity->uuid.empty()) identity->uuid = drm::default_uuid(root, card);
  identity->name = names.product(card, sysfs::read_word(root, card.device + "/product_name"));
  identity->driver = drm::driver_text(root, card);
  if (!texts) return identity;
  for (const auto &[file, metric] : kTexts) {
    put_text(*identity, metric, sysfs::read_word(root, card.device + std::string(file)));
  }
  put_architecture(*identity, nodes);
  return identity;
}

IdentityPtr identify_node(const Sysroot &root, const KfdGroup &nodes, drm::Names &names) {
  const auto &node = nodes.front();
  auto identity = std::make_shared<DeviceIdentity>();
  drm::Card card;
  card.vendor = node.vendor;
  card.product = node.product;
  card.driver = "amdgpu";
  identity->source = "amdgpu";
  identity->vendor = "amd";
  identity->pci = node.pci();
  identity->uuid = node.unique_id == 0 ? "PCI-" + identity->pci : fmt::format("GPU-{:016x}", node.unique_id);
  // KFD gives all newer chips the same name.
  const auto hint = sysfs::read_word(root, node.folder + "/name");
  identity->name = names.product(card, hint == "ip discovery" ? std::string_view() : std::string_view(hint));
  identity->driver = drm::driver_text(root, card);
  put_architecture(*identity, nodes);
  if (nodes.size() > 1) {
    put_text(*identity, device_metric("compute_partition"), partition_word(root, "", nodes.size()));
  }
  return identity;
}

IdentityPtr identify_part(const DeviceIdentity &whole, const KfdNode &node) {
  auto identity = std::make_shared<DeviceIdentity>(whole);
  const auto word = whole.texts[device_metric("compute_partition")].value_or("part");
  identity->texts = TextRow(Scope::device);
  identity->parent = whole.uuid;
  identity->label = fmt::format("{} {}", word, node.function());
  identity->uuid = whole.uuid + "/" + identity->label;
  put_architecture(*identity, {node});
  return identity;
}

std::string partition_word(const Sysroot &root, const std::string &device, std::size_t parts) {
  if (!device.empty()) {
    if (auto word = sysfs::read_word(root, device + "/current_compute_partition"); !word.empty()) return word;
  }
  constexpr std::array<std::string_view, 5> kWords{"", "SPX", "DPX", "TPX", "QPX"};
  return std::string(parts < kWords.size() ? kWords[parts] : "CPX");
}

void describe_topology(std::span<const KfdGroup> nodes, std::span<const IdentityPtr> identities) {
  if (identities.size() < 2) return;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    if (nodes[i].empty()) continue;
    std::string text;
    for (std::size_t j = 0; j < identities.size(); ++j) {
      const std::string_view path = i == j                               ? "X"
                                    : reaches(nodes[i], nodes[j], true)  ? "XGMI"
                                    : reaches(nodes[i], nodes[j], false) ? "PCIE"
                                                                         : "?";
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", j, path);
    }
    identities[i]->texts[device_metric("topology")] = text;
  }
}

}  // namespace gpulse::amdgpu
