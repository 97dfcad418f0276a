// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/hurry.hpp"

namespace gpulse::nvml {

thread_local bool Hurry::active = false;
ZeroedMemory zeroed_memory;

}  // namespace gpulse::nvml
