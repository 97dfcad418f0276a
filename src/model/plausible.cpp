// SPDX-License-Identifier: Apache-2.0
#include "model/plausible.hpp"

#include <cmath>

namespace gpulse {

Reading plausible(MetricId id, double value) {
  const auto &metric = describe(id);
  struct Range {
    double low, high;
  };
  const auto range = [&]() -> Range {
    switch (metric.unit) {
      // A fan may be driven beyond its nominal speed; nothing else can be busy for more than all of the time.
      case Unit::percent:
        return {0, metric.role == Role::fan ? 1000.0 : 100.0};
      case Unit::celsius:
        return {-273, 500};
      case Unit::watts:
      case Unit::mhz:
        return {0, 1e5};
      case Unit::bytes:
        return {0, 1e15};
      case Unit::bytes_per_second:
        return {0, 1e14};
      case Unit::rpm:
        return {0, 1e5};
      case Unit::volts:
        return {0, 100};
      default:
        break;
    }
    if (metric.kind == Kind::state) return {0, 1000};
    return {0, 1e18};
  }();
  // Two readings of a counter are never taken at quite the same moment: a hair above all of the time is all of it.
  if (metric.unit == Unit::percent && value > 100 && value <= 101 && metric.role != Role::fan) return 100.0;
  if (value < range.low || value > range.high) return Reason::out_of_range;
  return value;
}

}  // namespace gpulse
