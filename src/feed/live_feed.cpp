// SPDX-License-Identifier: Apache-2.0
#include "feed/live_feed.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/alarm.hpp"
#include "base/clock.hpp"
#include "base/hot_code.hpp"
#include "model/derived.hpp"
#include "source/registry.hpp"

namespace gpulse::feed {

namespace {

using namespace std::chrono_literals;

// A laptop's GPU that nobody uses for so long is let go of, so that it can fall asleep.
constexpr auto kIdleReleaseAfter = 15s;

// Of the first sample, and of the second one that it may need.
constexpr auto kFirstAnswer = 2800ms;

bool lacks_wanted_number(const Row &row, const MetricSet &wanted) {
  bool missing = false;
  for_each_metric(row.scope(), [&](MetricId id, const Metric &metric) {
    missing = missing || (!is_text(metric) && wanted.contains(id) && row[id].is(Reason::not_sampled));
  });
  return missing;
}

bool lacks_wanted_number(const Snapshot &snapshot, const MetricSet &wanted) {
  const auto lacks = [&](const auto &one) { return lacks_wanted_number(one.row, wanted); };
  const auto well = [](const Device &device) { return device.state == DeviceState::ok && !device.is_instance(); };
  return lacks_wanted_number(snapshot.host, wanted) || std::ranges::any_of(snapshot.processes, lacks) ||
         std::ranges::any_of(snapshot.devices, [&](const Device &device) { return well(device) && lacks(device); });
}

// Samples of this machine. Shared with a thread that may be stuck in a driver when the feed ends.
class Machine {
 public:
  Machine(std::vector<std::shared_ptr<Source>> sources, const Sysroot &root, const Options &options,
          const RunnerOptions &deadlines)
      : options_(options),
        interval_(options.interval),
        sampler_(std::move(sources), root, with_options(deadlines, options)) {}

  Sampler &sampler() { return sampler_; }

  Result<SnapshotPtr> once(const std::stop_token &stop) {
    const auto begun = monotonic_now();
    // What a command names is read at once, however seldom it would be otherwise.
    const bool fast = options_.rates == Rates::never && !options_.only;
    const bool twice = options_.rates == Rates::always;
    auto first = sampler_.sample(fast ? Pass::fast : twice ? Pass::rates : Pass::everything, stop);
    const auto window_end = monotonic_now() + options_.window;
    for (const auto &source : first->sources) {
      if (source.mistake) return failure(source.problem, source.remedy);
    }
    if (stop.stop_requested()) return SnapshotPtr{};
    if (twice) {
      // What is read once has the whole window for it.
      sampler_.sample_within(Pass::rest, left_of(begun), stop);
      return after_window(window_end, Pass::rates, begun, stop);
    }
    const bool again =
        options_.rates == Rates::if_needed && options_.only && lacks_wanted_number(*first, *options_.only);
    return again ? after_window(window_end, Pass::everything, begun, stop) : first;
  }

  Result<SnapshotPtr> again(const std::stop_token &stop) {
    return unless_stopped(sampler_.sample(Pass::everything, stop), stop);
  }

  void set_interval(std::chrono::nanoseconds interval) {
    interval_ = interval;
    if (due_) due_ = std::min(*due_, monotonic_now() + interval);
    sampler_.set_tick(interval);
  }

  // When the next of next() takes its sample.
  Monotonic due() const { return due_.value_or(Monotonic::min()); }

  // `here`: the drivers are called on this thread, which somebody watches over.
  [[gnu::hot]] Result<SnapshotPtr> next(Sleeper &sleeper, const std::stop_token &stop, bool here) {
    if (!due_) {
      auto first = once(stop);
      due_ = monotonic_now() + interval_;
      return first;
    }
    if (!sleeper.sleep_until(*due_)) return SnapshotPtr{};
    fetch_hot_code(HotCode::sample);
    fetch_stack();
    sampler_.fetch();
    // A device that is slow today must not hold back the others.
    const auto time_limit = std::max<std::chrono::nanoseconds>(interval_ / 2, 50ms);
    const auto pass = options_.all_each_time ? Pass::everything : Pass::scheduled;
    auto sample = here ? sampler_.sample_here(pass, time_limit, stop) : sampler_.sample_within(pass, time_limit, stop);
    if (sample == nullptr) return sample;
    due_ = next_turn(*due_, interval_, monotonic_now());
    return unless_stopped(std::move(sample), stop);
  }

 private:
  static RunnerOptions with_options(RunnerOptions deadlines, const Options &options) {
    deadlines.tick = options.interval;
    deadlines.only = options.only;
    deadlines.for_everybody = options.for_everybody;
    deadlines.rest = options.rest;
    return deadlines;
  }

  static SnapshotPtr unless_stopped(SnapshotPtr sample, const std::stop_token &stop) {
    return stop.stop_requested() ? SnapshotPtr{} : std::move(sample);
  }

  // `begun`: when the first sample was asked for. Whatever hangs, the answer comes within three seconds of it.
  static std::chrono::nanoseconds left_of(Monotonic begun) {
    return std::max<std::chrono::nanoseconds>(begun + kFirstAnswer - monotonic_now(), 100ms);
  }

  SnapshotPtr after_window(Monotonic window_end, Pass pass, Monotonic begun, const std::stop_token &stop) {
    if (!sleep_until(window_end, stop)) return {};
    return unless_stopped(sampler_.sample_within(pass, left_of(begun), stop), stop);
  }

  const Options options_;
  std::chrono::nanoseconds interval_;
  Sampler sampler_;
  std::optional<Monotonic> due_;  // none before the first of next()
};

// Takes samples and hands them on. The thread that does so calls the drivers itself: waking another one for each sample
// costs more than the calls. If it gets stuck in one, another thread goes on, and this one ends when the call returns.
struct Loop {
  // How long a call to a driver may hold the thread.
  static constexpr auto kHeld = 300ms;

  std::shared_ptr<Machine> machine;
  std::stop_token stop;
  const std::function<bool(const SnapshotPtr &)> *take = nullptr;
  std::mutex mutex{};
  Alarm alarm{};                              // for the one who watches over it
  Monotonic check = monotonic_now() + kHeld;  // when the alarm goes off
  std::uint64_t thread = 0;                   // the number of the one that goes on
  bool careful = false;                       // a driver has hung: it is called on other threads
  bool done = false;
  Result<void> result{};
};

// Until the next sample should have been taken, and a little longer, so that not every sample pays for it.
void put_off_alarm(Loop &loop) {
  const auto due = loop.machine->due() + Loop::kHeld;
  if (due <= loop.check) return;
  loop.check = due + 1s;
  loop.alarm.set(loop.check);
  // A stop may have set it off just before.
  if (loop.stop.stop_requested()) loop.alarm.set(monotonic_now());
}

void start_thread(const std::shared_ptr<Loop> &loop) {
  std::thread([loop, number = loop->thread, here = !loop->careful] [[gnu::hot]] {
    for (Sleeper sleeper(loop->stop);;) {
      auto sample = loop->machine->next(sleeper, loop->stop, here);
      const std::lock_guard lock(loop->mutex);
      if (loop->thread != number) return;
      if (!sample) loop->result = std::unexpected(sample.error());
      if (sample && *sample != nullptr && !loop->stop.stop_requested() && (*loop->take)(*sample)) {
        if (here) put_off_alarm(*loop);
        continue;
      }
      loop->done = true;
      loop->alarm.set(monotonic_now());
      return;
    }
  }).detach();
}

class LiveFeed final : public Feed {
 public:
  explicit LiveFeed(std::shared_ptr<Machine> machine) : machine_(std::move(machine)) {}

  bool is_live() const override { return true; }
  Result<SnapshotPtr> once(const std::stop_token &stop) override { return machine_->once(stop); }
  Result<SnapshotPtr> again(const std::stop_token &stop) override { return machine_->again(stop); }
  Result<SnapshotPtr> next(const std::stop_token &stop) override {
    Sleeper sleeper(stop);
    return machine_->next(sleeper, stop, false);
  }
  Result<void> follow(const std::stop_token &stop, const std::function<bool(const SnapshotPtr &)> &take) override;
  void focus(const MetricSet &set) override { machine_->sampler().focus(set); }
  void set_interval(std::chrono::nanoseconds interval) override { machine_->set_interval(interval); }
  std::vector<CostReport> costs() const override { return machine_->sampler().costs(); }
  bool try_close() override { return machine_->sampler().try_close(); }

 private:
  std::shared_ptr<Machine> machine_;
};

Result<void> LiveFeed::follow(const std::stop_token &stop, const std::function<bool(const SnapshotPtr &)> &take) {
  constexpr auto kGrace = 50ms;
  const auto loop = std::make_shared<Loop>(machine_, stop, &take);
  const std::stop_callback wake(stop, [loop] { loop->alarm.set(monotonic_now()); });
  loop->alarm.set(loop->check);
  start_thread(loop);
  for (bool stopping = false;;) {
    loop->alarm.wait();
    const std::lock_guard lock(loop->mutex);
    if (loop->done) break;
    const bool grace_over = stopping;
    stopping = stop.stop_requested();
    const bool held = machine_->sampler().is_held(stopping ? 0ms : Loop::kHeld);
    if (!held || (stopping && !grace_over)) {
      const auto soon = monotonic_now() + kGrace;
      loop->alarm.set(stopping ? soon : std::max(soon, loop->check));
      continue;
    }
    // From here on the thread in the driver neither takes a sample nor hands one on.
    ++loop->thread;
    loop->careful = true;
    machine_->sampler().replace();
    if (stopping) break;
    start_thread(loop);
  }
  return loop->result;
}

}  // namespace

std::unique_ptr<Feed> make_live(std::vector<std::shared_ptr<Source>> sources, const Sysroot &root,
                                const Options &options, const RunnerOptions &deadlines) {
  return std::make_unique<LiveFeed>(std::make_shared<Machine>(std::move(sources), root, options, deadlines));
}

Result<std::unique_ptr<Feed>> open_live(Options options) {
  if (options.only) options.only = with_inputs(*options.only);
  const Sysroot root(options.sysroot);
  if (!root.is_machine() && !root.exists("/")) return failure("no folder " + options.sysroot, "give one to --sysroot");
  const bool quick = options.rates != Rates::always;
  auto sources = make_sources(options.source, root,
                              {.texts = !quick,
                               .only = options.only,
                               .instances = options.instances,
                               .either_limit = options.either_limit,
                               .fast_start = !options.continuous,
                               .events = options.continuous,
                               .wake = options.wake,
                               .idle_release_after = options.continuous ? kIdleReleaseAfter : 0s});
  if (!sources) return std::unexpected(sources.error());
  return make_live(std::move(*sources), root, options);
}

}  // namespace gpulse::feed
