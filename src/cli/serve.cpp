// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <mutex>

#include "base/heap.hpp"
#include "base/log.hpp"
#include "cli/alerting.hpp"
#include "cli/history_file.hpp"
#include "cli/open_web.hpp"
#include "cli/output.hpp"
#include "cli/remote_write_options.hpp"
#include "cli/serve_fleet.hpp"
#include "cli/session.hpp"
#include "cli/web_options.hpp"
#include "serve/agent.hpp"
#include "serve/machine_site.hpp"
#include "serve/web.hpp"

namespace gpulse::cli {

namespace {

serve::Limits limits_of(const Options &options) {
  return {.interval = options.interval, .fastest = std::min(options.fastest, options.interval)};
}

history::Keep keep_of(const Options &options) {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  return {.raw = duration_cast<seconds>(options.keep_raw),
          .ten_seconds = duration_cast<seconds>(options.keep_10s),
          .minute = duration_cast<seconds>(options.keep_1min),
          .bytes = options.history_size};
}

bool is_whole_machine(const Options &options) {
  return options.source == "auto" && options.sysroot.empty() && options.replay.empty() && !options.demo;
}

// What is not this machine as it is must not be taken for it: it gets a folder that nobody looks into unasked.
Result<share::Place> make_place() {
  std::string folder = "/tmp/gpulse-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return failure("no folder in /tmp can be made");
  return share::Place{.folder = folder, .trust = share::Trust::named};
}

void remove_place(const share::Place &place) {
  ::unlink((place.folder + "/" + share::kLockFile).c_str());
  ::rmdir(place.folder.c_str());
}

// What a signal reaches.
struct Running {
  serve::Agent *agent = nullptr;
  serve::Web *web = nullptr;
  Alerting *alerting = nullptr;
};

void read_again(const Options &options, const Running &running, const ServiceManager &manager) {
  static_cast<void>(manager.reloading());
  const auto now = options.read_again();
  auto alerts = now ? alert_config(*now) : std::unexpected(now.error());
  if (alerts) {
    running.alerting->reload(std::move(*alerts));
    running.agent->set_limits(limits_of(*now), keep_of(*now));
    const auto good = running.web == nullptr ? Result<void>() : reload_web(*now, *running.web);
    if (!good) log_line(LogLevel::error, good.error().line() + ": who may read over HTTP stays as it was");
    log_line(LogLevel::notice, "the configuration was read again");
  } else {
    log_line(LogLevel::error, alerts.error().line() + ": the configuration stays as it was");
  }
  static_cast<void>(manager.ready());
}

feed::Options reading_of(const Options &options) {
  auto reading = feed_options(options);
  reading.agent = false;
  reading.notice = {};
  reading.continuous = true;
  reading.instances = true;
  reading.for_everybody = true;
  reading.rest = Tier::second;
  return reading;
}

// Null: nothing is written to an engine. What it is about is told to the board.
std::unique_ptr<fleet::RemoteWriter> write_to_engine(std::optional<fleet::RemoteWriteOptions> options,
                                                     serve::Board &board,
                                                     const std::shared_ptr<const kube::PodWatch> &pods) {
  if (!options) return nullptr;
  log_line(LogLevel::info, "writes to " + options->url.text());
  options->tell = [&board](const view::AgentNumbers::RemoteWrite &numbers) { board.post(numbers); };
  options->replay.agent = [&board] { return board.numbers(); };
  options->replay.pods = [pods] { return pods ? pods->pods() : std::vector<PodDevice>{}; };
  return std::make_unique<fleet::RemoteWriter>(std::move(*options));
}

// Everything that the command line and the configuration say, checked before anything begins.
struct Plan {
  share::Place place;
  bool own_folder = false;  // made for this run alone
  std::string history;      // empty: nothing is kept
  std::optional<serve::WebOptions> web;
  std::optional<fleet::RemoteWriteOptions> remote_write;
  std::shared_ptr<Alerting> alerting;
};

std::expected<Plan, Refused> plan(const Options &options) {
  const auto refuse = [](const Error &error, int code) { return std::unexpected(Refused{error, code}); };
  auto web = web_options(options);
  if (!web) return std::unexpected(web.error());
  auto place = Result<share::Place>(share::place_to_serve());
  const bool own_folder = !is_whole_machine(options) && place->trust != share::Trust::named;
  // What is not this machine as it is has no past, unless a file for it is named.
  auto history = !options.history.empty() ? options.history : own_folder ? "off" : history_to_write(*place);
  if (history == "off") history.clear();
  auto remote_write = remote_write_options(options, history);
  if (!remote_write) return refuse(remote_write.error(), kUsage);
  auto alerting = Alerting::open(options, alert_state_file(history, own_folder ? "" : history_to_write(*place)));
  if (!alerting) return refuse(alerting.error(), kUsage);
  if (own_folder) place = make_place();
  if (!place) return refuse(place.error(), kFailure);
  return Plan{.place = std::move(*place),
              .own_folder = own_folder,
              .history = std::move(history),
              .web = std::move(*web),
              .remote_write = std::move(*remote_write),
              .alerting = std::move(*alerting)};
}

}  // namespace

int run_serve(const Options &options) {
  if (options.serves_fleet) return run_serve_fleet(options);
  keep_heap_small();
  if (share::is_off()) return fail({"GPULSE_AGENT=off means that there is to be no agent"});
  auto planned = plan(options);
  if (!planned) return fail(planned.error().error, planned.error().code);
  const auto manager = ServiceManager::from_environment();
  std::mutex mutex;  // guards what is running
  Running running;
  const auto stop = stop_on_signals([&] {
    const std::lock_guard lock(mutex);
    if (running.agent != nullptr) read_again(options, running, manager);
  });
  const std::stop_callback ending(stop, [&] { static_cast<void>(manager.stopping()); });
  auto agent = serve::Agent::open({.feed = reading_of(options),
                                   .limits = limits_of(options),
                                   .place = planned->place,
                                   .version = GPULSE_VERSION,
                                   .history = planned->history,
                                   .keep = keep_of(options),
                                   .alerts = planned->alerting->access()});
  const auto fail_with = [&](const Error &error) {
    if (planned->own_folder) remove_place(planned->place);
    return fail(error);
  };
  if (!agent) return fail_with(agent.error());
  const auto pods = kube::watch_pods(options.pod_resources);
  const auto make_site = [&] {
    return std::make_unique<serve::MachineSite>((*agent)->board(),
                                                serve::MachineOptions{.version = GPULSE_VERSION,
                                                                      .history = planned->history,
                                                                      .process_metrics = options.process_metrics,
                                                                      .pods = pods});
  };
  auto web = open_web(std::move(planned->web), make_site, options.open_page);
  if (!web) {
    agent->reset();
    return fail_with(web.error());
  }
  const auto set_running = [&](const Running &now) {
    const std::lock_guard lock(mutex);
    running = now;
  };
  set_running({agent->get(), web->get(), planned->alerting.get()});
  planned->alerting->start((*agent)->board());
  log_line(LogLevel::info, fmt::format("publishes in {}, every {:g} s", planned->place.folder,
                                       std::chrono::duration<double>(options.interval).count()));
  if (!planned->history.empty()) log_line(LogLevel::info, "keeps what was in " + planned->history);
  auto writer = write_to_engine(std::move(planned->remote_write), (*agent)->board(), pods);
  const auto done = (*agent)->run(stop, manager);
  writer.reset();
  set_running({});
  planned->alerting->stop();
  web->reset();
  // Readers are told that nothing more comes.
  agent->reset();
  if (planned->own_folder) remove_place(planned->place);
  return done ? kGood : fail(done.error());
}

}  // namespace gpulse::cli
