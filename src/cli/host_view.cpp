// SPDX-License-Identifier: Apache-2.0
#include "cli/host_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/nearest.hpp"
#include "cli/engine_options.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "feed/timeline.hpp"
#include "fleet/fleet_asker.hpp"
#include "fleet/host_feed.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kUsualPast = 12h;  // that can be looked back into
constexpr auto kFineStep = 15s;
constexpr int kMostSteps = 2880;

std::chrono::seconds step_for(std::chrono::nanoseconds span) {
  return std::max<std::chrono::seconds>(kFineStep, std::chrono::ceil<std::chrono::seconds>(span / kMostSteps));
}

fleet::HostFeedOptions feed_options_of(const fleet::EngineOptions &engine, const fleet::FleetHost &host,
                                       std::chrono::nanoseconds span) {
  return {.engine = engine, .host = {host.instance, host.name, host.exporter}, .interval = step_for(span)};
}

feed::JoinedTimeline::OpenPast past_of(const fleet::HostFeedOptions &options) {
  return [options](WallTime before) -> std::unique_ptr<feed::Timeline> {
    auto past = fleet::open_host_past(options, before - kUsualPast, before - 1s);
    return past ? std::move(*past) : nullptr;
  };
}

std::string lower_name(const fleet::FleetHost &host) { return lower(host.name.str()); }

// By its name or by the label that the engine knows it by. A host that an agent and another exporter tell of is meant
// as its agent has it.
Result<fleet::FleetHost> find_host(const fleet::FleetSnapshot &fleet, const std::string &wanted) {
  const fleet::FleetHost *found = nullptr;
  for (const auto &host : fleet.hosts) {
    const bool fits = host.instance == wanted || lower_name(host) == lower(wanted);
    if (fits && (found == nullptr || host.exporter < found->exporter)) found = &host;
  }
  if (found != nullptr) return *found;
  std::vector<std::string> names;
  for (const auto &host : fleet.hosts) names.push_back(host.name.str());
  const std::vector<std::string_view> all(names.begin(), names.end());
  const auto near = nearest(wanted, all);
  return failure(fmt::format("the engine at {} knows of no host {}", fleet.place, printable(wanted)),
                 near.empty() ? "gpulse fleet lists those that it knows"
                              : fmt::format("did you mean {}? gpulse fleet lists all", near));
}

}  // namespace

Result<void> show_host(const Options &options, const TopLook &look, const fleet::EngineOptions &engine,
                       const fleet::FleetHost &host, std::optional<WallTime> at) {
  const auto span = at || options.since ? options.since.value_or(kUsualPast) : kUsualPast;
  const auto how = feed_options_of(engine, host, span);
  auto feed = [&]() -> Result<std::unique_ptr<feed::Feed>> {
    if (!at && !options.since) return fleet::open_host(how);
    const SlowNotice notice(fmt::format("asking for the past of {}", host.name));
    const auto last = at.value_or(wall_now());
    return fleet::replay_host(how, last - span, last);
  }();
  if (!feed) return std::unexpected(feed.error());
  auto loop = loop_options(options, look, (*feed)->is_live());
  loop.app.no_actions = "these are processes of another host";
  loop.app.elsewhere = true;
  loop.app.interval = how.interval;
  if (auto *recording = (*feed)->recording(); recording != nullptr) {
    loop.app.start = recording->end() - 1;
    loop.app.paused = true;
  } else {
    loop.open_past = past_of(how);
  }
  return tui::run(loop, **feed);
}

int run_top_of_host(const Options &given) {
  const auto options = with_configured_engine(given);
  if (options.url.empty()) {
    return fail({"which engine knows the host is not said",
                 "give --url http://prometheus:9090, or url in [fleet] of the configuration"},
                kUsage);
  }
  if (options.demo || !options.replay.empty()) {
    return fail({"--host is of an engine", "leave out --replay and --demo"}, kUsage);
  }
  if (const auto no_screen = why_no_screen("gpulse top", "use gpulse fleet"); no_screen) return fail(*no_screen);
  auto engine = engine_options(options);
  if (!engine) return fail(engine.error(), kUsage);
  const auto look = top_look(options);
  if (!look) return fail(look.error(), kUsage);
  fleet::FleetAsker asker(*engine);
  auto fleet = [&] {
    const SlowNotice notice(fmt::format("asking {}", asker.place()));
    return asker.ask(wall_now());
  }();
  if (!fleet) return fail(fleet.error().error);
  const auto host = find_host(**fleet, options.host);
  if (!host) return fail(host.error());
  const auto done = show_host(options, *look, *engine, *host);
  return done ? kGood : fail(done.error());
}

}  // namespace gpulse::cli
