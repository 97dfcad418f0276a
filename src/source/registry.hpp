// SPDX-License-Identifier: Apache-2.0
// The one list of sources. A new vendor is its folder and its line in registry.cpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "source/api/setting.hpp"
#include "source/api/source.hpp"

namespace gpulse {

struct SourceFactory {
  std::string_view name;
  std::unique_ptr<Source> (*make)(const Sysroot &, const SourceOptions &);
  SetFunction set = nullptr;  // none: nothing of its devices can be changed
};

std::span<const SourceFactory> source_factories();

// "auto": all of them; else the one of that name, and the host.
Result<std::vector<std::shared_ptr<Source>>> make_sources(std::string_view which, const Sysroot &root,
                                                          const SourceOptions &options);

// Changes one device, by the source that shows it. Asks nobody: whether it is wanted is the caller's business.
SettingResult change_setting(const Sysroot &root, const DeviceIdentity &device, const Setting &setting);

}  // namespace gpulse
