// SPDX-License-Identifier: Apache-2.0
// A Grafana dashboard over what the agent shows to Prometheus: what is wrong, what happened between scrapes, and panels
// for each group of the metric table. Pure.
#pragma once

#include <string>

#include "view/page_contents.hpp"

namespace gpulse::view {

// JSON to import, with panels for these metrics; chooses its data source, hosts and GPUs by variables.
std::string grafana_dashboard(const PageContents &contents);

}  // namespace gpulse::view
