// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "base/heap.hpp"
#include "base/log.hpp"
#include "base/service_manager.hpp"
#include "cli/engine_options.hpp"
#include "cli/open_web.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/web_options.hpp"
#include "serve/fleet_site.hpp"

namespace gpulse::cli {

namespace {

// What is about the GPUs of this machine, as far as it begins like this.
constexpr std::array<std::string_view, 11> kOfTheMachine{"--history", "--keep-",   "--remote-write",    "--replay",
                                                         "--demo",    "--fastest", "--process-metrics", "--source",
                                                         "--sysroot", "--wake",    "--pod-resources"};

// What the configuration says of an agent may stand there all the same.
std::optional<Error> refuse_machine(const Options &options) {
  const auto word = given_of(options, kOfTheMachine);
  if (!word) return std::nullopt;
  return Error{fmt::format("{} makes no sense with --fleet, which reads no GPU of this machine", *word),
               "start another gpulse serve for this machine"};
}

std::expected<serve::FleetSiteOptions, Refused> site_options(const Options &given) {
  const auto refuse = [](Error error) { return std::unexpected(Refused{std::move(error), kUsage}); };
  if (auto wrong = refuse_machine(given)) return refuse(std::move(*wrong));
  const auto options = with_configured_engine(given);
  if (options.url.empty()) {
    return refuse(
        {"no engine was given", "give --fleet http://prometheus:9090, or url in [fleet] of the configuration"});
  }
  auto engine = engine_options(options);
  if (!engine) return refuse(engine.error());
  serve::FleetSiteOptions site{.version = GPULSE_VERSION, .engine = std::move(*engine)};
  if (is_given(options, "--interval"))
    site.interval = std::max<std::chrono::nanoseconds>(options.interval, std::chrono::seconds(1));
  return site;
}

std::expected<serve::WebOptions, Refused> fleet_web_options(Options options) {
  if (options.listen.empty()) options.listen = {serve::kDefaultFleetListen};
  auto web = web_options(options);
  if (!web) return std::unexpected(web.error());
  if (!*web) return std::unexpected(Refused{{"--listen off leaves a fleet nowhere to be shown"}, kUsage});
  return std::move(**web);
}

void read_again(const Options &options, serve::Web &web, const ServiceManager &manager) {
  static_cast<void>(manager.reloading());
  auto now = options.read_again();
  if (now && now->listen.empty()) now->listen = {serve::kDefaultFleetListen};
  const auto good = now ? reload_web(*now, web) : std::unexpected(now.error());
  log_line(
      good ? LogLevel::notice : LogLevel::error,
      good ? "the configuration was read again" : good.error().line() + ": who may read over HTTP stays as it was");
  static_cast<void>(manager.ready());
}

// Until a stop is asked for.
void wait(const std::stop_token &stop, const ServiceManager &manager) {
  const auto every = manager.alive_interval();
  while (!stop.stop_requested()) {
    const auto pause = every ? std::chrono::nanoseconds(*every) : std::chrono::nanoseconds(std::chrono::hours(24));
    if (sleep_until(monotonic_now() + pause, stop) && every) static_cast<void>(manager.alive());
  }
}

}  // namespace

int run_serve_fleet(const Options &options) {
  keep_heap_small();
  auto site = site_options(options);
  if (!site) return fail(site.error().error, site.error().code);
  auto web_wanted = fleet_web_options(options);
  if (!web_wanted) return fail(web_wanted.error().error, web_wanted.error().code);
  const auto manager = ServiceManager::from_environment();
  std::mutex mutex;  // guards what is running
  serve::Web *running = nullptr;
  const auto stop = stop_on_signals([&] {
    const std::lock_guard lock(mutex);
    if (running != nullptr) read_again(options, *running, manager);
  });
  const std::stop_callback ending(stop, [&] { static_cast<void>(manager.stopping()); });
  const Text engine = site->engine.url.authority();
  const auto make_site = [&] { return std::make_unique<serve::FleetSite>(std::move(*site)); };
  auto web = open_web(std::move(*web_wanted), make_site, options.open_page);
  if (!web) return fail(web.error());
  const auto set_running = [&](serve::Web *now) {
    const std::lock_guard lock(mutex);
    running = now;
  };
  set_running(web->get());
  log_line(LogLevel::info, fmt::format("shows what the engine at {} knows", engine));
  static_cast<void>(manager.ready());
  wait(stop, manager);
  set_running(nullptr);
  return kGood;
}

}  // namespace gpulse::cli
