// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/sleep.hpp"

#include "base/text.hpp"
#include "source/drm/card.hpp"
#include "source/nvml/diagnose.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";

std::string attribute(const Sysroot &root, const std::string &pci, std::string_view name) {
  const auto text = root.read(std::string(kPciDevices) + "/" + pci + "/" + std::string(name), 256);
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace

bool may_sleep(const Sysroot &root, const std::string &pci) {
  return attribute(root, pci, "power/control") == "auto" && attribute(root, pci, "power/runtime_status") == "active";
}

bool is_suspended(const Sysroot &root, const std::string &pci) {
  const auto status = attribute(root, pci, "power/runtime_status");
  return status == "suspended" || status == "suspending";
}

std::vector<PciGpu> list_gpus(const Sysroot &root) {
  std::vector<PciGpu> gpus;
  // The loaded driver's own list spares a look at every device on the bus.
  for (const auto &pci : root.list("/proc/driver/nvidia/gpus")) gpus.push_back({pci, is_suspended(root, pci)});
  if (!gpus.empty()) return gpus;
  for (const auto &pci : root.list(kPciDevices)) {
    if (attribute(root, pci, "vendor") != "0x10de" || !attribute(root, pci, "class").starts_with("0x03")) continue;
    gpus.push_back({pci, is_suspended(root, pci)});
  }
  if (!gpus.empty()) return gpus;
  // A recorded machine may hold no more than its cards.
  for (const auto &card : drm::list_cards(root, [](std::string_view driver) { return driver == "nvidia"; })) {
    if (!card.pci.empty()) gpus.push_back({card.pci, card.asleep});
  }
  return gpus;
}

std::shared_ptr<DeviceIdentity> identity_asleep(const Sysroot &root, const std::string &pci) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = "nvml";
  identity->vendor = "nvidia";
  identity->pci = pci;
  identity->name = "NVIDIA GPU";
  identity->uuid = "PCI-" + pci;
  identity->driver = kernel_module_version(root);
  const auto text = root.read("/proc/driver/nvidia/gpus/" + pci + "/information").value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto line = next_piece(rest, '\n');
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto value = printable(trim(line.substr(colon + 1)));
    if (line.starts_with("Model")) identity->name = value;
    // The driver writes question marks while it does not know.
    if (line.starts_with("GPU UUID") && !value.contains('?')) identity->uuid = value;
  }
  return identity;
}

}  // namespace gpulse::nvml
