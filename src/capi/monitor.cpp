// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.hpp"

#include <fmt/format.h>

#include <cmath>

#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "view/csv.hpp"

namespace gpulse::capi {

using namespace std::chrono_literals;

namespace {

constexpr double kShortest = 0.01, kLongest = 86'400;
constexpr double kMostHistory = 7 * 86'400;

gpulse_options default_options() {
  return {.size = sizeof(gpulse_options), .interval = 1, .history = 900, .metrics = nullptr, .flags = 0};
}

gpulse_status told(monitor::Waited waited, gpulse_sample **out) {
  if (waited.sample) {
    *out = to_handle(std::move(waited.sample));
    return GPULSE_OK;
  }
  if (waited.ended) return fail(GPULSE_CLOSED, "the monitor has ended");
  return fail(GPULSE_TIMEOUT, waited.problem.empty() ? "no new sample within the given time" : waited.problem);
}

}  // namespace

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(seconds));
}

// Far in the future rather than beyond what a clock can hold.
Monotonic after(double seconds) {
  return monotonic_now() + nanoseconds_of(std::clamp(std::isnan(seconds) ? 0 : seconds, 0.0, 1e8));
}

Result<MetricSet> parse_metrics(const char *keys) {
  if (keys == nullptr) return monitor::default_metrics();
  MetricSet set;
  for (const auto key : split(keys, ',')) {
    if (trim(key) == "default") {
      set.add(monitor::default_metrics());
      continue;
    }
    if (trim(key) == "all") {
      // Not the details of -q, which take longer than everything else together.
      for (const auto scope : {Scope::device, Scope::process, Scope::host})
        for_each_metric(scope, [&](MetricId id, const Metric &) { set.add(id); });
      continue;
    }
    const auto id = view::find_field(trim(key));
    if (!id || !is_offered(*id))
      return failure(fmt::format("no metric \"{}\"", Text(trim(key))), "`gpulse explain --all` lists them");
    set.add(*id);
  }
  return set;
}

Result<monitor::Options> parse_options(const gpulse_options *given) {
  const auto taken = take_in(given, default_options());
  if (!taken) return std::unexpected(taken.error());
  const auto &options = *taken;
  if (!(options.interval >= kShortest && options.interval <= kLongest))
    return failure(fmt::format("an interval of {} s makes no sense", options.interval), "0.01 to 86400 seconds");
  if (!(options.history >= 0 && options.history <= kMostHistory))
    return failure(fmt::format("a history of {} s makes no sense", options.history), "0 to 604800 seconds");
  if ((options.flags & ~std::uint32_t{GPULSE_NO_AGENT | GPULSE_ONLY_AGENT | GPULSE_FINDINGS}) != 0)
    return failure(fmt::format("no flags {:#x}", options.flags),
                   "GPULSE_NO_AGENT, GPULSE_ONLY_AGENT and GPULSE_FINDINGS are all");
  const bool no_agent = (options.flags & GPULSE_NO_AGENT) != 0;
  const bool only_agent = (options.flags & GPULSE_ONLY_AGENT) != 0;
  if (no_agent && only_agent) return failure("both without an agent and with nothing but one");
  if (only_agent && !monitor::has_agent()) return failure("no agent runs on this machine", "start `gpulse serve`");
  auto metrics = parse_metrics(options.metrics);
  if (!metrics) return std::unexpected(metrics.error());
  return monitor::Options{.interval = nanoseconds_of(options.interval),
                          .history = nanoseconds_of(options.history),
                          .metrics = *metrics,
                          .agent = !no_agent,
                          .findings = (options.flags & GPULSE_FINDINGS) != 0};
}

}  // namespace gpulse::capi

using namespace gpulse;

// The caller may have been compiled when the struct was smaller: whatever is added to it later stays untouched here.
static_assert(sizeof(gpulse_options) == 40, "of the first version; write no more than that");
void gpulse_options_init(gpulse_options *options) {
  if (options != nullptr) *options = capi::default_options();
}

gpulse_status gpulse_open(const gpulse_options *options, gpulse_monitor **monitor) {
  return capi::guarded([&] {
    if (monitor == nullptr) return capi::fail(GPULSE_INVALID, "no place for the monitor");
    *monitor = nullptr;
    const auto parsed = capi::parse_options(options);
    if (!parsed) return capi::fail(GPULSE_INVALID, parsed.error().line());
    *monitor = new gpulse_monitor(*parsed);
    return GPULSE_OK;
  });
}

void gpulse_close(gpulse_monitor *monitor) {
  // The parent's threads do not exist here: there is nothing to end, and nothing that could be taken apart.
  if (monitor == nullptr || monitor->monitor.is_forked()) return;
  capi::guarded([&] {
    delete monitor;
    return GPULSE_OK;
  });
}

gpulse_status gpulse_look(const gpulse_options *options, gpulse_sample **sample) {
  return capi::guarded([&] {
    if (sample == nullptr) return capi::fail(GPULSE_INVALID, "no place for the sample");
    *sample = nullptr;
    const auto parsed = capi::parse_options(options);
    if (!parsed) return capi::fail(GPULSE_INVALID, parsed.error().line());
    auto taken = monitor::look(*parsed);
    if (!taken) return capi::fail(taken.error());
    *sample = capi::to_handle(std::move(*taken));
    return GPULSE_OK;
  });
}

gpulse_sample *gpulse_latest(const gpulse_monitor *monitor) {
  if (monitor == nullptr || monitor->monitor.is_forked()) return nullptr;
  return capi::to_handle(monitor->monitor.latest());
}

gpulse_status gpulse_wait(const gpulse_monitor *monitor, uint64_t number, double timeout, gpulse_sample **sample) {
  return capi::guarded([&] {
    if (monitor == nullptr || sample == nullptr)
      return capi::fail(GPULSE_INVALID, "no monitor, or no place for the sample");
    *sample = nullptr;
    if (monitor->monitor.is_forked()) return capi::forked();
    return capi::told(monitor->monitor.wait(number, capi::after(timeout)), sample);
  });
}

gpulse_status gpulse_refresh(gpulse_monitor *monitor, double timeout, gpulse_sample **sample) {
  return capi::guarded([&] {
    if (monitor == nullptr || sample == nullptr)
      return capi::fail(GPULSE_INVALID, "no monitor, or no place for the sample");
    *sample = nullptr;
    if (monitor->monitor.is_forked()) return capi::forked();
    return capi::told(monitor->monitor.refresh(capi::after(timeout)), sample);
  });
}

int gpulse_subscribe(gpulse_monitor *monitor) {
  int descriptor = -1;
  capi::guarded([&] {
    if (monitor == nullptr) return capi::fail(GPULSE_INVALID, "no monitor");
    if (monitor->monitor.is_forked()) return capi::forked();
    descriptor = monitor->monitor.subscribe();
    return descriptor >= 0 ? GPULSE_OK : capi::fail(GPULSE_FAILED, "no file descriptor is left");
  });
  return descriptor;
}

void gpulse_unsubscribe(gpulse_monitor *monitor, int descriptor) {
  if (monitor != nullptr && !monitor->monitor.is_forked()) monitor->monitor.unsubscribe(descriptor);
}

void gpulse_set_step(gpulse_monitor *monitor, int64_t step) {
  if (monitor != nullptr) monitor->monitor.set_step(step);
}

gpulse_status gpulse_get_stats(const gpulse_monitor *monitor, gpulse_stats *stats) {
  return capi::guarded([&] {
    if (monitor == nullptr) return capi::fail(GPULSE_INVALID, "no monitor");
    if (monitor->monitor.is_forked()) return capi::forked();
    const auto all = monitor->monitor.stats();
    const gpulse_stats full{.size = 0,
                            .samples = all.samples,
                            .missed = all.missed,
                            .processor_seconds = all.processor.count(),
                            .driver_seconds = all.driver.count(),
                            .driver_calls = all.driver_calls,
                            .from_agent = all.from_agent ? 1 : 0,
                            .interval = Seconds(all.interval).count()};
    return capi::hand_out(full, stats);
  });
}
