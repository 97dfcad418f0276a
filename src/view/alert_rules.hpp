// SPDX-License-Identifier: Apache-2.0
// Alerts over what the agent shows to Prometheus, made from the tables: thresholds of metrics, kinds of findings, the
// driver's errors. Pure.
#pragma once

#include <string>
#include <vector>

namespace gpulse::view {

struct AlertRule {
  std::string name;        // "GpuLost"
  std::string expression;  // PromQL
  std::string wait{};      // how long it has to hold: "5m"; empty: not at all
  std::string severity;    // "critical", "warning", "info", or a template for one of them
  std::string summary;
  std::string description;  // what it means and what to do
};

std::vector<AlertRule> alert_rules();

// A file for `rule_files` of Prometheus and VictoriaMetrics' vmalert.
std::string prometheus_rules();

}  // namespace gpulse::view
