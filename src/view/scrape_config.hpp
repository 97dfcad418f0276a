// SPDX-License-Identifier: Apache-2.0
// What makes Prometheus, VictoriaMetrics and others scrape the agents of many machines. Pure.
#pragma once

#include <span>
#include <string>

namespace gpulse::view {

struct ScrapeConfigOptions {
  bool has_tls = false;
  bool is_usual = false;   // no more than what is usual, of each
  std::string token_file;  // on the machine that scrapes, like the next; empty: none
  std::string ca_file;     // empty: the authorities of its system
};

// A file with `scrape_configs`, of targets such as "node7:9837".
std::string scrape_config(std::span<const std::string> targets, const ScrapeConfigOptions &options);
// The targets alone, for `file_sd_configs`.
std::string file_targets(std::span<const std::string> targets);

}  // namespace gpulse::view
