// SPDX-License-Identifier: Apache-2.0
// Alert rules for others: as PromQL over what the agent shows to Prometheus, and as a list for people. Pure.
#pragma once

#include <span>
#include <string>

#include "insight/alert_rules.hpp"
#include "term/style.hpp"

namespace gpulse::view {

// A file for `rule_files` of Prometheus and VictoriaMetrics' vmalert.
std::string prometheus_rules(std::span<const insight::AlertRule> rules);

// What has to hold, in a few words: "temperature_gpu_celsius >= 90".
std::string condition_words(const insight::AlertRule &rule);

// A line for each.
std::string rules_table(std::span<const insight::AlertRule> rules, const term::Style &style);

}  // namespace gpulse::view
