// SPDX-License-Identifier: Apache-2.0
#include "cli/host_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/nearest.hpp"
#include "cli/choice.hpp"
#include "cli/engine_options.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "feed/timeline.hpp"
#include "fleet/engine_gpus.hpp"
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

// What is about this machine, or about a recording.
constexpr std::array<std::string_view, 8> kNotOfAHost{"--replay",  "--demo",   "--at",      "--speed",
                                                      "--history", "--source", "--sysroot", "--wake"};

fleet::HostFeedOptions feed_options_of(const Options &options, const fleet::EngineOptions &engine,
                                       const fleet::FleetHost &host, std::chrono::nanoseconds span) {
  fleet::HostFeedOptions how{.engine = engine,
                             .host = fleet::place_of(host),
                             .interval = step_for(span),
                             .last = host.silent_for ? host.last : std::nullopt,
                             .patience = std::make_shared<feed::Patience>()};
  if (is_given(options, "--interval")) how.interval = std::max<std::chrono::nanoseconds>(options.interval, 1s);
  return how;
}

feed::JoinedTimeline::OpenPast past_of(const fleet::HostFeedOptions &options) {
  return [options](WallTime before) { return fleet::open_host_past(options, before - kUsualPast, before - 1s); };
}

// Wrong usage, in the order in which it helps most.
std::optional<Error> refuse(const Options &options) {
  if (const auto word = given_of(options, kNotOfAHost)) {
    return Error{fmt::format("--host cannot be combined with {}", *word), "it shows what a metrics engine has"};
  }
  if (std::ranges::find(options.devices, "visible") != options.devices.end()) {
    return Error{"-i visible is about this machine", "with --host give -i 0,1 or a UUID"};
  }
  if (options.url.empty()) {
    return Error{"--host needs an engine to ask",
                 "give --url http://prometheus:9090, or url in [fleet] of the configuration"};
  }
  return std::nullopt;
}

std::string lower_name(const fleet::FleetHost &host) { return lower(host.name.str()); }

// By its name or by the label that the engine knows it by. A host that an agent and another exporter tell of is meant
// as its agent has it.
Result<fleet::FleetHost> find_host(const fleet::FleetSnapshot &fleet, const std::string &wanted) {
  const fleet::FleetHost *found = nullptr;
  for (const auto &host : fleet.hosts) {
    const bool is_label = host.instance == wanted && !host.shares_instance;
    const bool fits = is_label || lower_name(host) == lower(wanted);
    if (fits && (found == nullptr || host.exporter < found->exporter)) found = &host;
  }
  if (found != nullptr) return *found;
  std::vector<std::string> names, same;
  for (const auto &host : fleet.hosts) {
    names.push_back(host.name.str());
    const bool is_one = host.instance == wanted || lower(fleet::host_of(host.instance).str()) == lower(wanted);
    if (is_one) same.push_back(host.name.str());
  }
  if (!same.empty()) {
    return failure(fmt::format("the engine at {} knows of several hosts {}", fleet.place, printable(wanted)),
                   fmt::format("give --host {}", fmt::join(same, " or ")));
  }
  const std::vector<std::string_view> all(names.begin(), names.end());
  const auto near = nearest(wanted, all);
  return failure(fmt::format("the engine at {} knows of no host {}", fleet.place, printable(wanted)),
                 near.empty() ? "gpulse fleet lists those that it knows"
                              : fmt::format("did you mean {}? gpulse fleet lists all", near));
}

}  // namespace

Result<void> show_host(const Options &options, const TopLook &look, const fleet::EngineOptions &engine,
                       const fleet::FleetHost &host, const HostVisit &visit) {
  const auto span = options.since.value_or(kUsualPast);
  const auto how = feed_options_of(options, engine, host, span);
  auto feed = [&]() -> Result<std::unique_ptr<feed::Feed>> {
    if (!visit.at && !options.since) return fleet::open_host(how);
    const SlowNotice notice(fmt::format("asking for the history of {}", host.name));
    const auto last = visit.at.value_or(wall_now());
    return fleet::replay_host(how, last - span, last);
  }();
  if (!feed) return std::unexpected(feed.error());
  auto loop = loop_options(options, look, (*feed)->is_live());
  loop.app.no_actions = "these are processes of another host";
  loop.app.elsewhere = true;
  loop.app.goes_back = visit.goes_back;
  loop.app.interval = how.interval;
  loop.patience = how.patience;
  Choice choice(options, false);
  if (!choice.is_everything()) {
    loop.app.part = [&choice](const SnapshotPtr &sample) { return choice.part_of(sample); };
  }
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
  if (const auto wrong = refuse(options)) return fail(*wrong, kUsage);
  auto engine = engine_options(options);
  if (!engine) return fail(engine.error(), kUsage);
  const auto look = top_look(options);
  if (!look) return fail(look.error(), kUsage);
  if (const auto no_screen = why_no_screen("gpulse top", "use gpulse fleet"); no_screen) return fail(*no_screen);
  fleet::FleetAsker asker(*engine);
  auto fleet = [&] {
    const SlowNotice notice(fmt::format("asking {}", asker.place()));
    return asker.ask(wall_now());
  }();
  if (!fleet) return fail(fleet.error().error);
  if ((*fleet)->hosts.empty()) return fail(no_gpus_known(asker.place()));
  const auto host = find_host(**fleet, options.host);
  if (!host) return fail(host.error());
  const auto done = show_host(options, *look, *engine, *host);
  return done ? kGood : fail(done.error());
}

}  // namespace gpulse::cli
