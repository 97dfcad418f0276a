// SPDX-License-Identifier: Apache-2.0
// The GPUs that an administrator has told the driver to leave out. Called by the source, on its worker.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace gpulse::nvml {

// In a session of its own, which attaches no GPU. Empty where the driver has no such list.
Result<std::vector<ExcludedDevice>> excluded_devices();

}  // namespace gpulse::nvml
