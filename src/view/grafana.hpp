// SPDX-License-Identifier: Apache-2.0
// A Grafana dashboard over what the agent shows to Prometheus: what is wrong, what happened between scrapes, and panels
// for each group of the metric table. Pure.
#pragma once

#include <string>

namespace gpulse::view {

// JSON to import; chooses its data source, hosts and GPUs by variables.
std::string grafana_dashboard();

}  // namespace gpulse::view
