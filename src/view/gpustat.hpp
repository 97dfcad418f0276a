// SPDX-License-Identifier: Apache-2.0
// What the program gpustat 1.1.1 would print for a snapshot: its lines, its colours, its JSON, to the byte.
// Pure functions; names and commands are made safe to print, which gpustat does not do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse::view {

struct GpustatOptions {
  bool header = true;
  bool processes = true;
  bool command = false, full_command = false, user = false, pid = false;
  bool fan = false;
  bool encoder = false, decoder = false;
  bool power = false, power_limit = false;  // the limit only together with the power
  std::optional<int> name_width{};          // 0: no names
  // In this order, also twice; a number that is no whole device's is left out. None: all.
  std::optional<std::vector<std::uint32_t>> devices{};
  bool colour = false;
  std::string_view normal = "\033[m";  // what ends a colour
};

// What the text or the JSON shows; the processes come with their number.
MetricSet needs_of_gpustat();

std::string render_gpustat(const Snapshot &snapshot, const GpustatOptions &options);
std::string gpustat_json(const Snapshot &snapshot, const std::optional<std::vector<std::uint32_t>> &devices);
// What could not be read and why, a line each: gpustat's --debug.
std::string gpustat_report(const Snapshot &snapshot);

}  // namespace gpulse::view
