// SPDX-License-Identifier: Apache-2.0
// What is normal for a device at work, such as its power limit, and so deserves no colour in any view. Pure; any
// thread.
#pragma once

#include <cstdint>

#include "insight/finding.hpp"
#include "metric/metric.hpp"
#include "model/event.hpp"

namespace gpulse::insight {

// Bits of a set that deserve no look while the device is busy.
std::uint64_t usual_bits(const Metric &metric);
bool is_usual(const Finding &finding);
bool is_usual(const Event &event);  // its beginning or its end

}  // namespace gpulse::insight
