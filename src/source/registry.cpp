// SPDX-License-Identifier: Apache-2.0
#include "source/registry.hpp"

#include <unistd.h>

#include <array>
#include <string>

#include "source/amdgpu/amdgpu_source.hpp"
#include "source/amdgpu/settings.hpp"
#include "source/drm/device_users.hpp"
#include "source/drm/drm_source.hpp"
#include "source/host/host_source.hpp"
#include "source/intel/intel_source.hpp"
#include "source/nvml/nvml_source.hpp"
#include "source/nvml/settings.hpp"
#include "source/sysfs/write.hpp"
#include "source/tegra/tegra_source.hpp"

namespace gpulse {

namespace {

constexpr std::string_view kHost = "host";

constexpr std::array kFactories{
    SourceFactory{"nvml", nvml::make_source, nvml::set},
    SourceFactory{"amdgpu", amdgpu::make_source, amdgpu::set},
    SourceFactory{"intel", intel::make_source},
    SourceFactory{"drm", drm::make_source},
    SourceFactory{"tegra", tegra::make_source},
    SourceFactory{kHost, [](const Sysroot &root, const SourceOptions &) { return host::make_host_source(root); }},
};

// No vendor library offers this; the kernel resets any PCI device that has a method for it.
SettingResult reset(const Sysroot &root, const DeviceIdentity &device) {
  if (device.pci.empty()) return setting_not_supported();
  if (root.is_live() && ::geteuid() != 0) return setting_failed(SettingFailure::no_permission, "no permission");
  const auto folder = "/sys/bus/pci/devices/" + device.pci;
  // Only displays and accelerators, in case a source reports a wrong address.
  const auto pci_class = root.read(folder + "/class").value_or("").substr(0, 4);
  if (pci_class != "0x03" && pci_class != "0x12") return setting_not_supported();
  return sysfs::write_attribute(root, folder + "/reset", "1");
}

bool wants_host(const SourceOptions &options) {
  return !options.only || options.only->contains_any(Scope::host) || options.only->contains_any(Scope::core);
}

}  // namespace

std::span<const SourceFactory> source_factories() { return kFactories; }

Result<std::vector<std::shared_ptr<Source>>> make_sources(std::string_view which, const Sysroot &root,
                                                          const SourceOptions &options) {
  const auto device_users = std::make_shared<drm::DeviceUsers>(root);
  std::vector<std::shared_ptr<Source>> sources;
  bool known = which == "auto";
  std::string names = "auto";
  for (const auto &factory : kFactories) {
    names += ", " + std::string(factory.name);
    known = known || factory.name == which;
    if (factory.name == kHost && !wants_host(options)) continue;
    if (which == "auto" || factory.name == which || factory.name == kHost) {
      const auto *alone = std::get_if<SourceFactory::Make>(&factory.make);
      sources.push_back(alone != nullptr
                            ? (*alone)(root, options)
                            : std::get<SourceFactory::MakeWithUsers>(factory.make)(root, options, device_users));
    }
  }
  if (!known) return failure("unknown source \"" + std::string(which) + "\"", "one of " + names);
  return sources;
}

SettingResult change_setting(const Sysroot &root, const DeviceIdentity &device, const Setting &setting) {
  if (setting.kind == SettingKind::reset) return reset(root, device);
  constexpr double kMaxWatts = 1e6;
  const bool plausible = setting.low > 0 && setting.low < kMaxWatts;
  if (setting.kind == SettingKind::power_limit && !setting.to_default && !plausible) {
    return setting_failed(SettingFailure::invalid, "invalid argument");
  }
  for (const auto &factory : kFactories) {
    if (factory.name == device.source && factory.set != nullptr) return factory.set(root, device, setting);
  }
  return setting_not_supported();
}

}  // namespace gpulse
