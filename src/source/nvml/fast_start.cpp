// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/fast_start.hpp"

namespace gpulse::nvml {

thread_local bool FastStart::active = false;
ZeroedMemory zeroed_memory;

}  // namespace gpulse::nvml
