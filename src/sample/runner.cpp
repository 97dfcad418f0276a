// SPDX-License-Identifier: Apache-2.0
#include "sample/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hot_code.hpp"
#include "sample/runner_core.hpp"

namespace gpulse {

using namespace std::chrono_literals;

Runner::Runner(std::shared_ptr<Source> source, std::shared_ptr<host::ProcessTable> processes,
               const RunnerOptions &options, std::shared_ptr<sysfs::DeviceEvents> events)
    : core_(std::make_shared<Core>(std::move(source), std::move(processes), std::move(events), options)) {
  if (is_prompt()) {
    core_->workers.push_back(std::make_shared<Core::Worker>());
  } else {
    start_workers(1);
  }
}

Runner::~Runner() {
  if (is_prompt()) return;
  std::unique_lock lock(core_->mutex);
  core_->stopping = true;
  core_->asked.notify_all();
  // A worker stuck in the driver is left behind; it shares ownership of everything it uses.
  core_->done.wait_for(lock, 600ms, [&] { return core_->workers.empty(); });
}

bool Runner::try_close() {
  if (is_prompt()) return true;
  const std::lock_guard lock(core_->mutex);
  core_->stopping = true;
  core_->asked.notify_all();
  return core_->workers.empty() && core_->source == nullptr;
}

bool Runner::is_prompt() const { return core_->prompt; }

void Runner::start_workers(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    auto worker = std::make_shared<Core::Worker>();
    core_->workers.push_back(worker);
    std::thread([core = core_, worker] { core->work(worker); }).detach();
  }
}

[[gnu::hot]] bool Runner::is_quiet() const {
  const auto until = quiet_until_.load();
  return until != Monotonic::min() && monotonic_now() < until;
}

[[gnu::hot]] bool Runner::has_nothing_to_do(Monotonic now) {
  const bool rests = core_->stage == Core::Stage::none && core_->has_nothing_to_do(now);
  quiet_until_ = rests ? core_->rests_until() : Monotonic::min();
  return rests;
}

void Runner::ask(Pass pass) {
  if (is_quiet()) return;
  std::unique_lock lock(core_->mutex);
  const auto now = monotonic_now();
  using enum Core::Stage;
  if (core_->stage == discover || core_->has_task()) return;
  if (has_nothing_to_do(now)) return;
  core_->begin_pass(pass, now);
  if (is_prompt()) {
    core_->serve(*core_->workers.front(), lock);
    return;
  }
  lock.unlock();
  core_->asked.notify_one();
}

[[gnu::hot]] Runner::Progress Runner::read_here(Pass pass) {
  if (is_quiet()) return Progress::done;
  auto &core = *core_;
  Core::Lock lock(core.mutex);
  const auto now = monotonic_now();
  if (has_nothing_to_do(now)) return Progress::done;
  // What is still going on has threads of its own, and more may be needed.
  if (core.prompt || core.stage != Core::Stage::none || core.any_call_hangs()) {
    lock.unlock();
    ask(pass);
    return Progress::under_way;
  }
  core.begin_pass(pass, now);
  const auto self = core.borrow_worker();
  const bool served = core.serve(*self, lock);
  if (!core.give_back(*self) || !served) return Progress::replaced;
  return core.stage == Core::Stage::none ? Progress::done : Progress::under_way;
}

[[gnu::hot]] void Runner::fetch() const {
  if (is_quiet()) return;
  const auto &core = *core_;
  fetch_data(&core, sizeof core);
  const std::lock_guard lock(core_->mutex);
  fetch_data(std::span<const Core::Reader>(core.readers));
  for (const auto &entity : core.entities) fetch_data(entity.get(), sizeof *entity);
  for (const auto &entity : core.entities) {
    fetch_data(std::span<const Reading>(entity->frame.row.readings()));
    fetch_data(std::span<const Reading>(entity->row.readings()));
    fetch_data(std::span<const ReaderTurn>(entity->turns));
  }
}

bool Runner::is_held(std::chrono::nanoseconds time) const {
  const std::lock_guard lock(core_->mutex);
  return std::any_of(core_->workers.begin(), core_->workers.end(), [&](const auto &worker) {
    return worker->borrowed && worker->step != Core::Step::idle && monotonic_now() - worker->started() > time;
  });
}

void Runner::replace() {
  const std::lock_guard lock(core_->mutex);
  for (const auto &worker : core_->workers) worker->replaced = worker->replaced || worker->borrowed;
  core_->asked.notify_all();
}

bool Runner::wait(Monotonic until, const std::stop_token &stop) {
  if (is_quiet()) return true;
  std::unique_lock lock(core_->mutex);
  for (;;) {
    const auto now = monotonic_now();
    start_workers(core_->supervise(now));
    if (core_->stage == Core::Stage::none || core_->discovery_hangs) return true;
    if (now >= until || stop.stop_requested()) return false;
    // Wake up often enough to notice a missed deadline soon.
    const auto next = std::min(until, now + std::min<std::chrono::nanoseconds>(core_->options.call_deadline / 8, 25ms));
    core_->done.wait_until(lock, next);
    // As in Sampler::wait().
    if (const auto gap = monotonic_now() - next; gap > 250ms) core_->forgive(gap);
  }
}

bool Runner::is_under_way() const {
  const std::lock_guard lock(core_->mutex);
  return core_->is_under_way(monotonic_now());
}

[[gnu::hot]] SourceNews Runner::report(SourceReport &report, Snapshot &snapshot, std::size_t &devices) {
  if (is_quiet()) return {};
  auto &core = *core_;
  const std::lock_guard lock(core.mutex);
  const auto now = monotonic_now();
  SourceNews news{.any = true};
  std::size_t own = 0;
  for (const auto &entity : core.entities) {
    if (entity->dropped) continue;
    if (entity->found.scope == Scope::host) {
      news.host = true;
      core.take_host(*entity, snapshot);
      continue;
    }
    core.take(*entity, now, snapshot, devices++);
    news.devices =
        news.devices || own == report.devices.size() || report.devices[own].identity != entity->found.identity;
    ++own;
  }
  report.call_time = core.call_time;
  report.calls = core.calls;
  report.slowed = core.count_slowed();
  if (!core.events.empty() || !report.events.empty()) report.events = std::exchange(core.events, {});
  core.reported = true;
  if (news.devices || own != report.devices.size()) {
    core.list_devices(report);
    news.devices = true;
  }
  news.status = std::exchange(core.status_changed, core.discovery_hangs) || core.discovery_hangs;
  if (news.status) core.tell_status(report, now);
  return news;
}

void Runner::set_tick(std::chrono::nanoseconds tick) {
  const std::lock_guard lock(core_->mutex);
  core_->tick = tick;
}

void Runner::focus(std::shared_ptr<const MetricSet> set) {
  const std::lock_guard lock(core_->mutex);
  core_->focus(std::move(set));
}

std::vector<CostReport> Runner::costs() const {
  const std::lock_guard lock(core_->mutex);
  std::vector<CostReport> all;
  for (const auto &[number, cost] : core_->readers) {
    all.push_back({.source = core_->status.name.str(),
                   .call = std::string(cost.info().call),
                   .tier = cost.tier(),
                   .slowed = cost.slowed(),
                   .mean = cost.mean(),
                   .calls = cost.calls(),
                   .total = cost.total()});
  }
  return all;
}

}  // namespace gpulse
