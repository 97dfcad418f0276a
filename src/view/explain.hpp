// SPDX-License-Identifier: Apache-2.0
// What a metric, a finding or an error number means, in plain words from their tables. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "insight/catalogue.hpp"
#include "metric/metric.hpp"
#include "term/style.hpp"

namespace gpulse::view {

// A metric by key, by nvidia-smi's name or by Prometheus name, all scopes that have it; or a finding by its word or an
// alias. A name that is none names the nearest.
Result<std::string> explain(std::string_view name, const term::Style &style);
std::string explain_metric(const Metric &metric, const term::Style &style);
std::string explain_finding(const insight::FindingKind &kind, const term::Style &style);
Result<std::string> explain_xid(std::int64_t number, const term::Style &style);
// Every metric with its one line, by scope and group, and every finding.
std::string explain_list(const term::Style &style);
std::string explain_finding_list(const term::Style &style);

// The metric or finding that takes the fewest changes to get to; empty where none is near.
std::string nearest_topic(std::string_view name);

}  // namespace gpulse::view
