// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/sensor_presence.hpp"

#include "metric/table.hpp"

namespace gpulse::sysfs {

Reading SensorPresence::check(MetricId metric, const Reading &reading) {
  const auto unit = key_of(metric).unit;
  if (!reading || (unit != Unit::celsius && unit != Unit::volts)) return reading;
  if (reading.value() != 0) seen_.add(metric);
  return seen_.contains(metric) ? reading : Reason::not_supported;
}

}  // namespace gpulse::sysfs
