// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/fast_start.hpp"

#include "source/nvml/zeroed_memory.hpp"

namespace gpulse::nvml {

thread_local bool FastStart::active = false;
constinit PublishedRange zeroed_memory;

}  // namespace gpulse::nvml
