// SPDX-License-Identifier: Apache-2.0
#include "cli/alerting.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/scrape_config.hpp"
#include "view/alert_rules.hpp"
#include "view/grafana.hpp"
#include "view/recording_rules.hpp"

namespace gpulse::cli {

int run_rules(const Options &options) {
  if (asks_for_targets(options)) return run_scrape_config(options);
  const auto config = alert_config(options);
  if (!config) return fail(config.error(), kUsage);
  const auto text =
      options.rules_format == kRuleFormats[0]   ? view::rules_table(config->rules, whole_lines(options))
      : options.rules_format == kRuleFormats[1] ? view::prometheus_rules(config->rules)
      : options.rules_format == kRuleFormats[5]
          ? view::recording_rules()
          : view::grafana_dashboard(options.rules_metrics == view::kAllWord ? view::whole_page() : view::usual_page());
  if (auto written = write_out(text); !written) return fail(written.error());
  return kGood;
}

}  // namespace gpulse::cli
