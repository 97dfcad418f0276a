// SPDX-License-Identifier: Apache-2.0
// The GPUs that an administrator has told the driver to leave out.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace gpulse::nvml {

struct ExcludedDevice {
  std::string pci;  // as the driver writes it
  std::string uuid;
};

// Empty where the driver has no such list.
Result<std::vector<ExcludedDevice>> excluded_devices();

}  // namespace gpulse::nvml
