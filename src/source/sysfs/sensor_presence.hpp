// SPDX-License-Identifier: Apache-2.0
// Firmware reports 0 °C and 0 V for sensors that a card does not have. One object per device, used by one thread at a
// time.
#pragma once

#include "metric/set.hpp"
#include "model/reading.hpp"

namespace gpulse::sysfs {

class SensorPresence {
 public:
  // The reading; not_supported for a temperature or voltage that has never been anything but 0. Once it has been, 0 is
  // a value: the voltage of a part that is switched off.
  Reading check(MetricId metric, const Reading &reading);

 private:
  MetricSet seen_;
};

}  // namespace gpulse::sysfs
