// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/output.hpp"
#include "cli/session.hpp"
#include "view/doctor.hpp"

namespace gpulse::cli {

namespace {

std::string_view tier_word(Tier tier) {
  switch (tier) {
    case Tier::tick:
      return "tick";
    case Tier::second:
      return "second";
    case Tier::slow:
      return "slow";
    case Tier::once:
      return "once";
  }
  return "";
}

}  // namespace

int run_doctor(const Options &options) {
  const auto opened = open_feed(feed_options(options));
  if (!opened) return fail(opened.error());
  auto &feed = **opened;
  auto snapshot = first_look(feed);
  if (!snapshot) return fail(snapshot.error());
  std::vector<view::ReaderCost> costs;
  for (const auto &cost : feed.costs()) {
    if (cost.calls == 0) continue;
    costs.push_back({.call = cost.source + " " + cost.call,
                     .tier = std::string(tier_word(cost.tier)),
                     .mean_us = std::chrono::duration<double, std::micro>(cost.mean).count(),
                     .slowed = cost.slowed});
  }
  std::optional<view::AgentNote> note;
  if (const auto agent = feed.agent()) {
    note = {.folder = agent->folder,
            .pid = agent->pid,
            .interval_seconds = std::chrono::duration<double>(agent->interval).count(),
            .age_seconds = std::chrono::duration<double>(agent->age).count()};
  }
  const auto text = view::render_doctor(**snapshot, costs, style_of(options, STDOUT_FILENO), note);
  if (auto written = write_out(text); !written) return fail(written.error());
  return (*snapshot)->devices.empty() ? kNoDevice : kGood;
}

}  // namespace gpulse::cli
