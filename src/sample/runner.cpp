// SPDX-License-Identifier: Apache-2.0
#include "sample/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sample/runner_core.hpp"

namespace gpulse {

using namespace std::chrono_literals;

Runner::Runner(std::shared_ptr<Source> source, std::shared_ptr<host::ProcessTable> processes,
               const RunnerOptions &options)
    : core_(std::make_shared<Core>(std::move(source), std::move(processes), options)) {
  if (is_prompt()) {
    core_->worker = std::make_shared<Core::Worker>();
  } else {
    start_worker();
  }
}

Runner::~Runner() {
  if (is_prompt()) return;
  std::unique_lock lock(core_->mutex);
  core_->stopping = true;
  core_->asked.notify_all();
  const bool left = core_->done.wait_for(lock, 600ms, [&] { return core_->ended; });
  lock.unlock();
  // A worker stuck in the driver is left behind; it shares ownership of everything it uses.
  left ? worker_.join() : worker_.detach();
}

bool Runner::is_prompt() const { return core_->prompt; }

void Runner::start_worker() {
  if (worker_.joinable()) worker_.detach();
  core_->worker = std::make_shared<Core::Worker>();
  worker_ = std::thread([core = core_, self = core_->worker] { core->work(self); });
}

void Runner::ask(Pass pass) {
  {
    const std::lock_guard lock(core_->mutex);
    if (core_->working || (pass == Pass::scheduled && core_->has_nothing_to_do(monotonic_now()))) return;
    core_->working = true;
    core_->requested = pass;
  }
  if (is_prompt()) {
    core_->serve(*core_->worker);
  } else {
    core_->asked.notify_all();
  }
}

bool Runner::wait(Monotonic until, const std::stop_token &stop) {
  std::unique_lock lock(core_->mutex);
  while (core_->working) {
    const auto now = monotonic_now();
    if (core_->set_aside(now)) start_worker();
    if (now >= until || core_->discovery_hangs || stop.stop_requested()) return false;
    // Wake up often enough to notice a missed deadline soon.
    core_->done.wait_until(
        lock, std::min(until, now + std::min<std::chrono::nanoseconds>(core_->options.call_deadline / 4, 50ms)));
  }
  return true;
}

SourceReport Runner::report() {
  const std::lock_guard lock(core_->mutex);
  const auto now = monotonic_now();
  if (core_->set_aside(now)) start_worker();
  SourceReport report;
  report.status = {.name = std::string(core_->source->name()),
                   .problem = core_->problem,
                   .remedy = core_->remedy,
                   .mistake = core_->mistake,
                   .code = core_->code,
                   .driver = core_->driver,
                   .excluded = core_->excluded};
  if (core_->discovery_hangs) {
    report.status.problem = fmt::format("{} driver not responding for {:.0f} s", core_->source->name(),
                                        Seconds(now - core_->discovery_hangs_since).count());
    report.status.remedy = "see the kernel log";
  }
  report.absent = core_->absent;
  report.entities.reserve(core_->entities.size());
  for (const auto &entity : core_->entities) {
    SourceReport::Entity one{.found = entity->found,
                             .row = entity->published,
                             .processes = entity->processes,
                             .cores = entity->cores,
                             .details = entity->details};
    one.found.state = entity->state;
    if (entity->state != DeviceState::ok) one.state_for = now - entity->state_since;
    if (core_->discovery_hangs) {
      one.found.state = DeviceState::not_responding;
      one.state_for = now - core_->discovery_hangs_since;
      one.row.fill(Reason::not_responding);
      one.processes.clear();
      one.cores.clear();
      one.details.reset();
    }
    if (one.found.scope == Scope::device) ++report.status.devices;
    report.entities.push_back(std::move(one));
  }
  report.events = std::exchange(core_->events, {});
  report.call_time = core_->call_time;
  report.calls = core_->calls;
  report.slowed = static_cast<std::uint32_t>(
      std::count_if(core_->costs.begin(), core_->costs.end(), [](const ReaderCost &c) { return c.slowed(); }));
  return report;
}

void Runner::focus(std::shared_ptr<const MetricSet> set) {
  const std::lock_guard lock(core_->mutex);
  core_->focus(std::move(set));
}

std::vector<CostReport> Runner::costs() const {
  const std::lock_guard lock(core_->mutex);
  std::vector<CostReport> all;
  for (const auto &cost : core_->costs) {
    all.push_back({.source = std::string(core_->source->name()),
                   .call = std::string(cost.info().call),
                   .tier = cost.tier(),
                   .slowed = cost.slowed(),
                   .mean = cost.mean(),
                   .calls = cost.calls()});
  }
  return all;
}

}  // namespace gpulse
