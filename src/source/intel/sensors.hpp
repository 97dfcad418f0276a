// SPDX-License-Identifier: Apache-2.0
// Where an Intel GPU's power, heat, fans and voltage are to be read. Graphics in a processor has no sensors of its own:
// there the processor's speak for it.
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

// A counter of microjoules; several files where each tile has its own.
struct EnergyCounter {
  std::vector<std::string> paths;
  bool package = false;        // of the GPU package, not of the whole board
  std::uint64_t wraps_at = 0;  // 0: it does not
};

struct Sensors {
  std::vector<EnergyCounter> energy;  // best first
  std::vector<SensorFile> limits;     // of power, read now and then; the first that gives a number holds
  std::vector<SensorFile> now;        // temperatures, voltage
  std::vector<SensorFile> fixed;      // limits of temperature
  std::vector<std::string> fans;
  double most_watts = 0;  // the highest of all limits; 0 where none is known
};

Sensors find_sensors(const Sysroot &root, const drm::Card &card, bool integrated);

}  // namespace gpulse::intel
