// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/sleep.hpp"

#include "base/text.hpp"
#include "source/drm/card.hpp"
#include "source/nvml/diagnose.hpp"
#include "source/sysfs/attribute.hpp"
#include "source/sysfs/power.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";

std::string folder_of(const std::string &pci) { return std::string(kPciDevices) + "/" + pci; }

PciGpu look_at(const Sysroot &root, const std::string &pci) {
  const auto folder = folder_of(pci);
  return {pci, folder, sysfs::is_suspended(root, folder)};
}

}  // namespace

bool is_suspended(const Sysroot &root, const PciGpu &gpu) { return sysfs::is_suspended(root, gpu.folder); }

bool may_suspend(const Sysroot &root, const PciGpu &gpu) { return sysfs::may_suspend(root, gpu.folder); }

std::vector<PciGpu> list_gpus(const Sysroot &root) {
  std::vector<PciGpu> gpus;
  // The kernel module's own list saves searching the whole bus.
  for (const auto &pci : root.list("/proc/driver/nvidia/gpus")) gpus.push_back(look_at(root, pci));
  if (!gpus.empty()) return gpus;
  for (const auto &pci : root.list(kPciDevices)) {
    const auto folder = folder_of(pci);
    if (sysfs::read_word(root, folder + "/vendor") != "0x10de") continue;
    if (!sysfs::read_word(root, folder + "/class").starts_with("0x03")) continue;
    gpus.push_back(look_at(root, pci));
  }
  if (!gpus.empty()) return gpus;
  // A recorded machine may have nothing but its cards.
  for (const auto &card : drm::list_cards(root, [](std::string_view driver) { return driver == "nvidia"; })) {
    if (!card.pci.empty()) gpus.push_back({card.pci, card.device, card.asleep});
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
    const auto value = trim(line.substr(colon + 1));
    if (line.starts_with("Model")) identity->name = value;
    // The driver writes question marks until it knows the UUID.
    if (line.starts_with("GPU UUID") && !value.contains('?')) identity->uuid = value;
  }
  return identity;
}

}  // namespace gpulse::nvml
