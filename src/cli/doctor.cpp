// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <thread>

#include "cli/output.hpp"
#include "cli/session.hpp"
#include "source/registry.hpp"
#include "view/doctor.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

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

// What each source's devices may have. A source that is made and not asked opens no driver.
std::map<std::string, MetricSet> readable_metrics() {
  std::map<std::string, MetricSet> readable;
  const auto sources = make_sources("auto", Sysroot(), {});
  if (!sources) return readable;
  for (const auto &source : *sources) {
    auto &set = readable[std::string(source->name())];
    for (const auto &reader : source->readers()) set.add(reader.fills);
  }
  return readable;
}

// Some readings come with a second sample, and the driver's own buffers fill within a second.
Result<SnapshotPtr> look_twice(feed::Feed &feed) {
  auto first = first_look(feed);
  if (!first || !feed.is_live() || feed.is_from_agent() || (*first)->devices.empty()) return first;
  std::this_thread::sleep_for(1s);
  return feed.again();
}

}  // namespace

int run_doctor(const Options &options) {
  const auto opened = open_feed(feed_options(options));
  if (!opened) return fail(opened.error());
  auto &feed = **opened;
  auto snapshot = look_twice(feed);
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
  const auto text = view::render_doctor(
      **snapshot, costs,
      {.style = style_of(options, STDOUT_FILENO), .agent = std::move(note), .readable = readable_metrics()});
  if (auto written = write_out(text); !written) return fail(written.error());
  return (*snapshot)->devices.empty() ? kNoDevice : kGood;
}

}  // namespace gpulse::cli
