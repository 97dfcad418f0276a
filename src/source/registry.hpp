// SPDX-License-Identifier: Apache-2.0
// The one list of sources. A new vendor is its folder and its line in registry.cpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "source/source.hpp"

namespace gpulse {

struct SourceFactory {
  std::string_view name;
  std::unique_ptr<Source> (*make)(const Sysroot &, const SourceOptions &);
};

std::span<const SourceFactory> source_factories();

// "auto": all of them; else the one of that name, and the host.
Result<std::vector<std::shared_ptr<Source>>> make_sources(std::string_view which, const Sysroot &root,
                                                          const SourceOptions &options);

}  // namespace gpulse
