// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_options.hpp"

#include "cli/engine_options.hpp"
#include "fleet/fleet_groups.hpp"

namespace gpulse::cli {

using namespace std::chrono_literals;

void add_fleet(OptionList &list, Options &options) {
  add_engine(list, options);
  list.text("--by", options.fleet_by, "a line per host, cluster, user, job, account, pod or model (host)")
      .value_name("WHAT")
      .one_of({fleet::kFleetBy.begin(), fleet::kFleetBy.end()});
  list.text("--sort", options.sort, "the worst first: by waste, health, use or name (health)")
      .value_name("HOW")
      .one_of({fleet::kFleetSorts.begin(), fleet::kFleetSorts.end()});
  list.each_time("--filter", options.fleet_filters,
                 "only these GPUs: user=ann host=node1* state=lost, also cluster, job, account, pod, model, finding, "
                 "severity, remark, idle, xid, any")
      .value_name("WORD=VALUE");
  list.number("-n,--top", options.fleet_top, "how many lines, in text (20)", {"1", "100000"}).value_name("N");
  const auto at = list.text("--at", options.fleet_at, "as it was: 2026-11-16 01:00, yesterday, -3h")
                      .value_name("WHEN")
                      .command_line_only();
  list.maybe_duration("--watch", options.watch, options.fleet_interval, "again and again, every SEC (15s)", 1s)
      .value_name("[SEC]")
      .excludes(at);
  list.number("--count", options.count, "stop after so many", {"1", "1000000000000"}).value_name("N");
  const auto csv = list.flag("--csv", options.csv, "comma-separated values, a line per host, user or what --by says");
  list.flag("--json", options.json, "all of it as JSON: totals, groups, hosts, GPUs").excludes(csv);
  list.number("--width", options.width, "columns to use", {"1", "10000"}).value_name("N");
  const auto colour = list.flag("--color", options.colour, "colours even when not on a terminal");
  list.flag("--no-color", options.no_colour, "no colours (also: NO_COLOR)").excludes(colour);
  list.flag("--ascii", options.ascii, "plain ASCII");
  list.footer(
      "  gpulse fleet --url http://prometheus:9090                     all hosts, those with troubles first\n"
      "  gpulse fleet --url http://prometheus:9090 --watch             the same, every 15 seconds; on a terminal with "
      "keys:\n"
      "                                                                Enter opens a host, ? lists them\n"
      "  gpulse fleet --url http://prometheus:9090 --by user --sort waste\n"
      "  gpulse fleet --url http://prometheus:9090 --filter user=ann --filter 'host=node1*'\n"
      "  gpulse fleet --url http://prometheus:9090 --at 'yesterday 18:00' --json\n"
      "\n"
      "A cell per GPU: how much of it is truly used; X lost or gone, ? does not respond, z asleep, ~ its host is\n"
      "silent, - not known (with Unicode a cross, a shade and a dash). What is not known is in no mean.\n"
      "Exit: 1 there is no engine, it does not let us ask, or it knows of no GPUs.");
}

}  // namespace gpulse::cli
