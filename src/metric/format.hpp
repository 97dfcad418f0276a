// SPDX-License-Identifier: Apache-2.0
// One value of a metric as text for a person: "85 %", "1.1 GiB", "690.7 W", "P0", "power cap, sw thermal".
#pragma once

#include <string>
#include <vector>

#include "metric/metric.hpp"

namespace gpulse {

// The bits of a set; none of what no double can hold as bits.
std::uint64_t set_bits(double value);

// Words of a state or set value; a bit or number without a word is shown as it is.
std::vector<std::string> value_words(const Metric &metric, double value);

// The number without a unit, at the metric's precision: "690.7". Voltages have three digits after the point, and more
// only where the source tells more.
std::string format_number(const Metric &metric, double value);

// The number alone, at the metric's precision; bytes and rates scaled to a readable unit.
std::string format_value(const Metric &metric, double value);

// "1.1 GiB", "143 GiB", "512 MiB": at most four digits before the unit.
std::string format_bytes(double bytes);

}  // namespace gpulse
