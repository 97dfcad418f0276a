// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/sleep.hpp"

#include "base/text.hpp"
#include "source/nvml/diagnose.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";

std::string attribute(const Sysroot &root, const std::string &pci, std::string_view name) {
  const auto text = root.read(std::string(kPciDevices) + "/" + pci + "/" + std::string(name), 256);
  return text ? std::string(trim(*text)) : std::string();
}

// What the driver holds; without it, every PCI device there is: hundreds on a server, each with a file to read.
std::vector<std::string> candidates(const Sysroot &root) {
  auto names = root.list("/sys/bus/pci/drivers/nvidia");
  std::erase_if(names, [](const std::string &name) { return !name.contains(':'); });
  return names.empty() ? root.list(kPciDevices) : names;
}

}  // namespace

bool is_suspended(const Sysroot &root, const std::string &pci) {
  const auto status = attribute(root, pci, "power/runtime_status");
  return status == "suspended" || status == "suspending";
}

std::vector<PciGpu> list_gpus(const Sysroot &root) {
  std::vector<PciGpu> gpus;
  for (const auto &pci : candidates(root)) {
    if (attribute(root, pci, "vendor") != "0x10de" || !attribute(root, pci, "class").starts_with("0x03")) continue;
    gpus.push_back({pci, is_suspended(root, pci)});
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
