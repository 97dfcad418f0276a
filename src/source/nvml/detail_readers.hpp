// SPDX-License-Identifier: Apache-2.0
// How the details of a device are read: metrics that are read only for commands that name them.
#pragma once

#include "source/nvml/readers.hpp"

namespace gpulse::nvml {

std::span<const Reader> detail_readers();

}  // namespace gpulse::nvml
