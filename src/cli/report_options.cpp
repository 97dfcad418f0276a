// SPDX-License-Identifier: Apache-2.0
#include "cli/report_options.hpp"

#include "cli/engine_options.hpp"
#include "cli/run_options.hpp"
#include "insight/usage.hpp"

namespace gpulse::cli {

void add_usage_report(OptionList &list, Options &options) {
  const auto history =
      list.text("--history", options.history, "the file, instead of that of the agent").value_name("FILE");
  add_engine(list, options).excludes(history);
  const auto since = list.duration("--since", options.since, "how far back from --to (7d)").command_line_only();
  list.text("--from", options.from, "where it begins: 2026-11-16 01:00, yesterday, -3h")
      .value_name("WHEN")
      .command_line_only()
      .excludes(since);
  list.text("--to", options.to, "where it ends (now)").value_name("WHEN").command_line_only();
  list.text("--by", options.report_by, "add up by user, job, account, host or model (user)")
      .value_name("WHAT")
      .one_of({insight::kUsageBy.begin(), insight::kUsageBy.end()});
  list.number("--top", options.top, "how many of the worst to name (10)", {"1", "1000"}).value_name("N");
  list.each_time("-i,--id", options.devices, "only these devices: index, UUID or its start, PCI address, vendor")
      .value_name("WHICH");
  list.text("--user", options.user, "only what this user held").value_name("NAME").command_line_only();
  add_price(list, options);
  const auto csv =
      list.flag("--csv", options.csv, "comma-separated values: a line per user, job, account, host or model");
  list.flag("--json", options.json, "all of it as JSON").excludes(csv);
  list.text("--html", options.html_to, "as one HTML file that needs nothing else, in place of the text")
      .value_name("FILE")
      .command_line_only();
  list.flag("--force", options.force, "overwrite a file that is there and is no report");
  list.number("--width", options.width, "columns to use", {"1", "10000"}).value_name("N");
  const auto colour = list.flag("--color", options.colour, "colours even when not on a terminal");
  list.flag("--no-color", options.no_colour, "no colours (also: NO_COLOR)").excludes(colour);
  list.flag("--ascii", options.ascii, "plain ASCII");
  list.footer(
      "  gpulse report                                         the last seven days, by user\n"
      "  gpulse report --since 30d --by job --top 20           the jobs that wasted the most\n"
      "  gpulse report --since 1d --price '0.30 EUR' --html report.html\n"
      "  gpulse report --from 2026-11-01 --to 2026-12-01 --by model --csv\n"
      "  gpulse report --url http://prometheus:9090 --by host  of all hosts whose agents it scrapes\n"
      "\n"
      "In GPU-hours. Held: a process was on the GPU; several share it. Active: a kernel ran. Used: true activity "
      "(SM).\n"
      "Wasted: held and not used. What is not known is said, never counted as 0.\n"
      "Exit: 1 there is no history or no engine, or nothing in it of that time.");
}

}  // namespace gpulse::cli
