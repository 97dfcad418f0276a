// SPDX-License-Identifier: Apache-2.0
// The one list of sources. A new vendor is its folder and its line in registry.cpp.
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "source/api/setting.hpp"
#include "source/api/source.hpp"

namespace gpulse {

namespace drm {
class DeviceUsers;
}

struct SourceFactory {
  using Make = std::unique_ptr<Source> (*)(const Sysroot &, const SourceOptions &);
  // For sources that find the users of their devices in /proc: they share one list.
  using MakeWithUsers = std::unique_ptr<Source> (*)(const Sysroot &, const SourceOptions &,
                                                    std::shared_ptr<drm::DeviceUsers>);

  std::string_view name;
  std::variant<Make, MakeWithUsers> make;
  SetFunction set = nullptr;  // null: its devices have no settings
};

std::span<const SourceFactory> source_factories();

// All of them for "auto", else the one of that name and the host.
Result<std::vector<std::shared_ptr<Source>>> make_sources(std::string_view which, const Sysroot &root,
                                                          const SourceOptions &options);

// Changes a setting of one device through the source that reports it. The caller has asked for confirmation.
SettingResult change_setting(const Sysroot &root, const DeviceIdentity &device, const Setting &setting);

}  // namespace gpulse
