// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include "insight/job_price.hpp"

namespace gpulse::cli {

void add_price(OptionList &list, Options &options) {
  list.text("--price", options.price, "of a kWh, with or without the currency: 0.30, \"0.30 EUR\"")
      .value_name("PRICE")
      .check([](const std::string &text) {
        return insight::parse_price(text) ? std::string() : "\"" + text + "\" is not a price: 0.30, \"0.30 EUR\"";
      });
}

void add_report(OptionList &list, Options &options) {
  list.text("--html", options.html_to, "the report as one HTML file, with plots").value_name("FILE");
  list.text("--json", options.json_to, "the report as JSON; -: the standard output, behind the job's own")
      .value_name("FILE");
  list.flag("--force", options.force, "overwrite a file that is there and is no report");
  list.flag("-q,--quiet", options.quiet, "no report on the standard error");
  add_price(list, options);
  list.duration("--interval", options.run_interval, "time between samples (250ms for half a minute, then 1s)",
                std::chrono::milliseconds(10));
  list.footer(
      "  gpulse run -- python train.py                           a report on the standard error when it ends\n"
      "  gpulse run --html report.html --price '0.30 EUR' -- torchrun --nproc-per-node 8 train.py\n"
      "  gpulse run -q --json report.json -- ./job               for a script\n"
      "\n"
      "The job starts at once, has the standard streams to itself, and gets the signals that are sent to gpulse.\n"
      "Whatever it starts belongs to it, also what it leaves behind in the background.\n"
      "Exit: the job's own, or 128 and the signal that ended it; 126, 127 it cannot be run, is not there.");
}

}  // namespace gpulse::cli
