// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/scrape_config.hpp"
#include "view/alert_rules.hpp"
#include "view/grafana.hpp"

namespace gpulse::cli {

int run_rules(const Options &options) {
  if (asks_for_targets(options)) return run_scrape_config(options);
  const auto text = options.rules_format == kRuleFormats[0] ? view::prometheus_rules() : view::grafana_dashboard();
  if (auto written = write_out(text); !written) return fail(written.error());
  return kGood;
}

}  // namespace gpulse::cli
