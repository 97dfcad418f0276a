// SPDX-License-Identifier: Apache-2.0
// What a metric or an error number means, in plain words from the table. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "metric/metric.hpp"
#include "term/style.hpp"

namespace gpulse::view {

// By key, by nvidia-smi's name or by Prometheus name; all scopes that have it. A name that is none names the nearest.
Result<std::string> explain(std::string_view name, const term::Style &style);
std::string explain_metric(const Metric &metric, const term::Style &style);
Result<std::string> explain_xid(std::int64_t number, const term::Style &style);
// Every metric with its one line, by scope and group.
std::string explain_list(const term::Style &style);

// The key that takes the fewest changes to get to; empty where none is near.
std::string nearest_key(std::string_view name);

}  // namespace gpulse::view
