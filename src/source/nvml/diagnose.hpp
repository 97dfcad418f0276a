// SPDX-License-Identifier: Apache-2.0
// Explains why no NVIDIA GPU can be read, and what to do about it.
#pragma once

#include <optional>
#include <string>

#include "base/shared_library.hpp"
#include "base/sysroot.hpp"
#include "source/nvml/abi.hpp"

namespace gpulse::nvml {

struct Problem {
  std::string what, remedy;
  bool absent = false;  // the machine has no NVIDIA GPU
  Return code = Return::library_not_found;
};

// The library could not be loaded.
Problem no_library(const Sysroot &root, const std::string &why);

// The library was loaded, but could not be initialised.
Problem no_init(const Sysroot &root, Return code, const std::string &library_version, const std::string &library_path);

// The library was initialised, but does not say how many GPUs there are.
Problem no_count(Return code);

// What is wrong with the simulator's scenario; empty when nothing is, or when it is a real driver.
std::string scenario_mistake(const SharedLibrary &library);

// "NVRM version: … 580.159.04 …" of the loaded kernel module; empty when none is loaded.
std::string kernel_module_version(const Sysroot &root);

}  // namespace gpulse::nvml
