// SPDX-License-Identifier: Apache-2.0
#include "monitor/table.hpp"

#include <limits>

namespace gpulse::monitor {

void Numbers::add(const Reading &reading) {
  values.push_back(reading.value_or(std::numeric_limits<double>::quiet_NaN()));
  validity.add(reading.has_value());
}

void Strings::add(const std::string &value) {
  text += value;
  offsets.push_back(static_cast<std::int32_t>(text.size()));
  values.push_back(value);
}

}  // namespace gpulse::monitor
