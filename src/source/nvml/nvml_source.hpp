// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs through the driver's own library.
#pragma once

#include <memory>

#include "base/sysroot.hpp"
#include "source/api/source.hpp"

namespace gpulse::nvml {

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options);

}  // namespace gpulse::nvml
