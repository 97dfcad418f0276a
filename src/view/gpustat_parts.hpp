// SPDX-License-Identifier: Apache-2.0
// What gpustat's text and its JSON have in common: devices and processes as gpustat counts and names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/snapshot.hpp"

namespace gpulse::view {

inline constexpr double kMebibyte = 1024.0 * 1024.0;

struct GpustatProcess {
  const Process *process;
  std::string user;                    // "?" where it is not known
  std::string command;                 // the program without its folder, "?" where it is not known
  std::vector<std::string> arguments;  // at least one
  std::optional<std::int64_t> memory_mib;
};

struct GpustatDevice {
  const Device *device;
  std::string name;
  bool available = true;  // else the name says what is wrong, and nothing more is known
  // None: the driver does not list them.
  std::optional<std::vector<GpustatProcess>> processes;
};

std::vector<GpustatDevice> gpustat_devices(const Snapshot &snapshot,
                                           const std::optional<std::vector<std::uint32_t>> &chosen);

// The reading as a whole number, cut, not rounded; `unit` is what one of it is.
std::optional<std::int64_t> gpustat_number(const Row &row, Role role, double unit = 1);

// Empty where nobody knows.
std::string gpustat_driver(const Snapshot &snapshot);

}  // namespace gpulse::view
