// SPDX-License-Identifier: Apache-2.0
// Why there is no NVIDIA GPU to be seen, in words that help.
#pragma once

#include <optional>
#include <string>

#include "base/shared_library.hpp"
#include "base/sysroot.hpp"
#include "source/nvml/abi.hpp"

namespace gpulse::nvml {

struct Problem {
  std::string what, remedy;
  bool absent = false;  // there is no such GPU in this machine
  Return code = Return::library_not_found;
};

// The library could not be opened. None when the machine has no NVIDIA hardware and nothing is amiss.
Problem no_library(const Sysroot &root, const std::string &why);

// The library is there, but could not be initialised.
Problem no_init(const Sysroot &root, Return code, const std::string &library_version, const std::string &library_path);

// The session is open, but the driver does not say how many GPUs there are.
Problem no_count(Return code);

// What is wrong with the simulator's scenario; empty when nothing is, or when the library is a driver's.
std::string scenario_mistake(const SharedLibrary &library);

// "NVRM version: … 580.159.04 …" of the loaded kernel module; empty when none is loaded.
std::string kernel_module_version(const Sysroot &root);

}  // namespace gpulse::nvml
