// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs through the driver's own library.
#pragma once

#include <memory>

#include "base/sysroot.hpp"
#include "source/source.hpp"

namespace gpulse::nvml {

struct Options {
  bool texts = true;   // serial numbers, versions, topology: nice to know, but calls
  bool events = true;  // listen for driver errors on a thread
};

std::unique_ptr<Source> make_source(const Sysroot &root, const Options &options);

}  // namespace gpulse::nvml
