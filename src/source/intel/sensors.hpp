// SPDX-License-Identifier: Apache-2.0
// Finds the sensors of an Intel GPU: power, temperature, fans, voltage. Integrated graphics has none of its own, so the
// processor's are used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metric/table.hpp"
#include "source/drm/card.hpp"

namespace gpulse::intel {

// One file and what it fills.
struct SensorFile {
  std::string path;
  MetricId metric;
  double scale = 1;
};

// An energy counter in microjoules; several files when each tile has its own.
struct EnergyCounter {
  std::vector<std::string> paths;
  bool package = false;        // of the GPU package, not the whole board
  std::uint64_t wraps_at = 0;  // 0: it does not
};

struct Sensors {
  std::vector<EnergyCounter> energy;  // best first
  std::vector<SensorFile> limits;     // of power; the first that gives a number is used
  std::vector<SensorFile> now;        // temperatures, voltage
  std::vector<SensorFile> fixed;      // limits of temperature
  std::vector<std::string> fans;
  double max_watts = 0;  // the highest limit; 0: unknown
};

Sensors find_sensors(const Sysroot &root, const drm::Card &card, bool integrated);

}  // namespace gpulse::intel
