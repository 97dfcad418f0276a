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

// A metric by key, by nvidia-smi's name or by Prometheus name, all scopes that have it; a label of the tables and of
// the live view; a finding, or a remark about a GPU of a fleet, by its word or an alias; a word on nvidia-smi's screen;
// a value of a state. A name that is none names the nearest.
Result<std::string> explain(std::string_view name, const term::Style &style);
std::string explain_metric(const Metric &metric, const term::Style &style);
std::string explain_finding(const insight::FindingKind &kind, const term::Style &style);
Result<std::string> explain_xid(std::int64_t number, const term::Style &style);
// Every metric with its one line, by scope and group, every remark and every finding.
std::string explain_list(const term::Style &style);
std::string explain_finding_list(const term::Style &style);

}  // namespace gpulse::view
