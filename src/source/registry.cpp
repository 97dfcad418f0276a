// SPDX-License-Identifier: Apache-2.0
#include "source/registry.hpp"

#include <array>
#include <string>

#include "source/amdgpu/amdgpu_source.hpp"
#include "source/drm/drm_source.hpp"
#include "source/drm/openers.hpp"
#include "source/host/host_source.hpp"
#include "source/intel/intel_source.hpp"
#include "source/nvml/nvml_source.hpp"
#include "source/tegra/tegra_source.hpp"

namespace gpulse {

namespace {

constexpr std::string_view kHost = "host";

constexpr std::array kFactories{
    SourceFactory{"nvml", nvml::make_source},
    SourceFactory{"amdgpu", amdgpu::make_source},
    SourceFactory{"intel", intel::make_source},
    SourceFactory{"drm", drm::make_source},
    SourceFactory{"tegra", tegra::make_source},
    SourceFactory{kHost, [](const Sysroot &root, const SourceOptions &) { return host::make_host_source(root); }},
};

}  // namespace

std::span<const SourceFactory> source_factories() { return kFactories; }

Result<std::vector<std::shared_ptr<Source>>> make_sources(std::string_view which, const Sysroot &root,
                                                          const SourceOptions &options) {
  auto shared = options;
  if (!shared.openers) shared.openers = std::make_shared<drm::Openers>(root);
  std::vector<std::shared_ptr<Source>> sources;
  bool known = which == "auto";
  std::string names = "auto";
  for (const auto &factory : kFactories) {
    names += ", " + std::string(factory.name);
    known = known || factory.name == which;
    if (which == "auto" || factory.name == which || factory.name == kHost) {
      sources.push_back(factory.make(root, shared));
    }
  }
  if (!known) return failure("unknown source \"" + std::string(which) + "\"", "one of " + names);
  return sources;
}

}  // namespace gpulse
