// SPDX-License-Identifier: Apache-2.0
// Intel GPUs (drivers i915 and xe) and NPUs, from the files of their kernel drivers.
#pragma once

#include <memory>

#include "source/api/source.hpp"
#include "source/intel/pmu.hpp"

namespace gpulse::intel {

std::unique_ptr<Source> make_source(const Sysroot &root, const SourceOptions &options);

// With other performance counters than those of this machine.
std::unique_ptr<Source> make_source_with(const Sysroot &root, const SourceOptions &options, OpenCounter open_counter);

}  // namespace gpulse::intel
