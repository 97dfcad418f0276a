// SPDX-License-Identifier: Apache-2.0
// The GPU of a Jetson, from the files of the driver nvgpu and the sensors of the board.
#pragma once

#include <memory>

#include "source/api/source.hpp"

namespace gpulse::tegra {

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options);

}  // namespace gpulse::tegra
