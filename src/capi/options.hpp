// SPDX-License-Identifier: Apache-2.0
// Arguments of C functions as our own types.
#pragma once

#include <gpulse/gpulse.h>
#include "monitor/monitor.hpp"

namespace gpulse::capi {

std::chrono::nanoseconds nanoseconds_of(double seconds);
Monotonic after(double seconds);
// Keys with commas; null: the default, "all": everything.
Result<MetricSet> parse_metrics(const char *keys);
Result<monitor::Options> parse_options(const gpulse_options *given);

}  // namespace gpulse::capi
