// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "base/sysroot.hpp"
#include "base/text.hpp"
#include "model/select.hpp"
#include "monitor/fork_guard.hpp"
#include "share/segment.hpp"

namespace gpulse::monitor {

namespace {

using namespace std::chrono_literals;

// Threads that a thread starts have its name: so ours are told from the program's own.
constexpr const char *kThreadName = "gpulse";

// After a failure of the feed itself, such as a source that cannot be opened.
constexpr auto kTryAgain = 5s;

// A program that sets steps has set the first by then; loading a model and its data may take a while.
constexpr auto kStepsWithin = 60s;
constexpr std::size_t kMostHeld = 600;

Seconds processor_time_of_our_threads() {
  const Sysroot root;
  double nanoseconds = 0;
  for (const auto &task : root.list("/proc/self/task")) {
    const auto folder = "/proc/self/task/" + task;
    if (trim(root.read(folder + "/comm").value_or("")) != kThreadName) continue;
    const auto told = root.read(folder + "/schedstat").value_or("");
    std::string_view rest = told;
    nanoseconds += parse_double(next_word(rest)).value_or(0);
  }
  return Seconds(nanoseconds / 1e9);
}

// The program's signals are the program's: none is delivered to our threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

std::vector<EnergyPoint> energy_of(const Sample &sample, const SamplePtr &before) {
  constexpr auto kEnergy = device_metric("energy_joules");
  const auto &devices = sample.snapshot->devices;
  std::vector<EnergyPoint> points;
  points.reserve(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EnergyPoint now{.at = sample.at, .joules = devices[i].row[kEnergy]};
    if (before && i < before->energy.size() && before->snapshot->devices[i].identity == devices[i].identity &&
        before->energy[i].joules == now.joules)
      now.at = before->energy[i].at;
    points.push_back(now);
  }
  return points;
}

// A driver takes up to some seconds to let go: nobody waits for that.
void close_soon(const std::shared_ptr<feed::Feed> &feed) {
  const auto until = monotonic_now() + 20ms;
  while (!feed->try_close()) {
    if (monotonic_now() > until) {
      std::thread([feed] {}).detach();
      return;
    }
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

MetricSet default_metrics() {
  MetricSet set = region_needs();
  for (const auto scope : {Scope::device, Scope::process, Scope::host}) {
    for_each_metric(scope, [&](MetricId id, const Metric &metric) {
      // Alarms are listened for by a thread that is slow to end.
      if (metric.role != Role::alarm && (metric.role != Role::none || metric.rank > 0)) set.add(id);
    });
  }
  return set;
}

feed::Options feed_options(const Options &options) {
  auto only = options.metrics;
  only.add(region_needs());
  return {.interval = options.interval, .only = only, .instances = true, .agent = options.agent};
}

bool has_agent() {
  std::string problem;
  return !share::is_off() && share::SegmentReader::find(problem).has_value();
}

Result<SamplePtr> look(const Options &options) {
  const SignalsBlocked blocked;
  auto reading = feed_options(options);
  reading.rates = feed::Rates::if_needed;
  const auto feed = feed::open(reading);
  if (!feed) return std::unexpected(feed.error());
  auto snapshot = (*feed)->once();
  if (!snapshot) return std::unexpected(snapshot.error());
  auto sample = std::make_unique<Sample>();
  sample->snapshot = *snapshot;
  sample->at = monotonic_now();
  sample->from_agent = (*feed)->is_from_agent();
  sample->energy = energy_of(*sample, {});
  for (const auto &device : (*snapshot)->devices) sample->ids.push_back(text(device.id));
  return SamplePtr(sample.release());
}

Result<std::size_t> find_device(const Sample &sample, std::string_view selector) {
  const auto selected = select_devices(sample.snapshot, {std::string(selector)});
  if (!selected) return std::unexpected(selected.error());
  // Instances come with their GPU, and are not meant by its name.
  const auto &found = (*selected)->devices;
  const auto whole = std::ranges::count_if(found, [](const Device &device) { return !device.is_instance(); });
  if (found.empty() || (found.size() > 1 && whole != 1))
    return failure(fmt::format("\"{}\" fits {} devices", Text(selector), found.size()), "name one of them");
  const auto &one = found.size() == 1
                        ? found.front()
                        : *std::ranges::find_if(found, [](const Device &device) { return !device.is_instance(); });
  const auto at = std::ranges::find(sample.snapshot->devices, one.id, &Device::id);
  return static_cast<std::size_t>(at - sample.snapshot->devices.begin());
}

Monitor::Monitor(const Options &options)
    : options_(options), past_(options.history, feed_options(options).only.value_or(MetricSet{})) {
  ForkGuard::add(this);
  const SignalsBlocked blocked;
  thread_ = std::jthread([this](const std::stop_token &stop) { run(stop); });
}

Monitor::~Monitor() {
  ForkGuard::remove(this);
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  for (const int descriptor : subscribers_) ::close(descriptor);
}

void Monitor::run(const std::stop_token &stop) {
  ::prctl(PR_SET_NAME, kThreadName);
  do {
    open_and_follow(stop);
  } while (sleep_until(monotonic_now() + kTryAgain, stop));
  close_sinks();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  published_.notify_all();
}

void Monitor::open_and_follow(const std::stop_token &stop) {
  auto reading = feed_options(options_);
  reading.continuous = true;
  auto opened = feed::open(reading, stop);
  // It may take a while to close: not with the mutex held.
  const std::shared_ptr<feed::Feed> feed = opened ? std::move(*opened) : nullptr;
  {
    const std::lock_guard lock(mutex_);
    feed_ = feed;
    if (!opened) problem_ = opened.error().line();
  }
  if (feed) follow(*feed, stop);
  {
    const std::lock_guard lock(mutex_);
    feed_.reset();
  }
  if (feed) close_soon(feed);
}

// False: a stop was asked for. `asked`: how many samples out of turn have been asked for.
bool Monitor::wait_for_turn(Monotonic due, const std::stop_token &stop, std::uint64_t &asked) {
  std::unique_lock lock(mutex_);
  asked_.wait_until(lock, stop, due, [&] { return asks_ > served_; });
  asked = asks_;
  return !stop.stop_requested();
}

void Monitor::follow(feed::Feed &feed, const std::stop_token &stop) {
  Monotonic due = monotonic_now();
  std::uint64_t asked = 0;
  bool first = true;
  while (wait_for_turn(due, stop, asked)) {
    const bool in_turn = first || monotonic_now() >= due;
    Result<SnapshotPtr> snapshot;
    {
      const std::lock_guard lock(sampling_);
      snapshot = in_turn ? feed.next(stop) : feed.again(stop);
    }
    if (!snapshot) {
      const std::lock_guard lock(mutex_);
      problem_ = snapshot.error().line();
      return;
    }
    if (*snapshot == nullptr) return;
    publish(*snapshot, feed.is_from_agent());
    const auto now = monotonic_now();
    const std::lock_guard lock(mutex_);
    served_ = asked;
    if (in_turn) {
      // The time of the first one is not that of a turn: it waits for the drivers.
      if (!first && now > due + 2 * options_.interval)
        missed_ += static_cast<std::uint64_t>((now - due) / options_.interval) - 1;
      due = first ? now + options_.interval : next_turn(due, options_.interval, now);
      first = false;
    }
    published_.notify_all();
  }
}

void Monitor::publish(const SnapshotPtr &snapshot, bool from_agent) {
  auto sample = std::make_unique<Sample>();
  sample->snapshot = snapshot;
  // A sample of the agent's is a little older than the moment in which we get it.
  const auto age =
      has_time(*snapshot) ? std::clamp<std::chrono::nanoseconds>(wall_now() - snapshot->time, 0ns, 5s) : 0ns;
  sample->at = monotonic_now() - age;
  const auto step = step_.load(std::memory_order_relaxed);
  if (step != kNoStep) sample->step = step;
  sample->from_agent = from_agent;
  sample->energy = energy_of(*sample, newest_.take());
  for (const auto &device : snapshot->devices) sample->ids.push_back(text(device.id));
  std::vector<std::shared_ptr<Region>> regions;
  {
    const std::lock_guard lock(mutex_);
    sample->number = ++number_;
    problem_.clear();
    regions = regions_;
  }
  const SamplePtr done(sample.release());
  past_.add(*done);
  newest_.publish(done);
  std::erase_if(regions, [&](const auto &region) { return region->add(*done); });
  write(done);
  const std::lock_guard lock(mutex_);
  for (const auto &settled : regions) std::erase(regions_, settled);
  for (const int descriptor : subscribers_) ::eventfd_write(descriptor, 1);
}

void Monitor::note(const Result<void> &written) {
  if (written) return;
  const std::lock_guard lock(mutex_);
  sink_problem_ = written.error().line();
}

void Monitor::write_held(Attached &attached) {
  attached.undecided = false;
  for (const auto &sample : attached.held) note(attached.sink->write(*sample->snapshot));
  attached.held.clear();
}

void Monitor::write(Attached &attached, const SamplePtr &sample) {
  if (attached.undecided && sample->step) {
    // They were taken before the training began.
    attached.undecided = false;
    attached.held.clear();
  }
  if (attached.undecided) {
    attached.held.push_back(sample);
    if (sample->at - attached.held.front()->at >= kStepsWithin || attached.held.size() >= kMostHeld)
      write_held(attached);
    return;
  }
  note(attached.sink->write(*sample->snapshot, sample->step));
}

void Monitor::write(const SamplePtr &sample) {
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(new_sinks_, std::back_inserter(sinks_));
    new_sinks_.clear();
  }
  for (auto &attached : sinks_) write(attached, sample);
}

void Monitor::close_sinks() {
  for (auto &attached : sinks_) {
    write_held(attached);
    note(attached.sink->close());
  }
  sinks_.clear();
}

void Monitor::add_sink(std::unique_ptr<sink::Sink> sink, bool steps_may_come) {
  const std::lock_guard lock(mutex_);
  new_sinks_.push_back({.sink = std::move(sink), .undecided = steps_may_come});
}

std::string Monitor::sink_problem() const {
  const std::lock_guard lock(mutex_);
  return sink_problem_;
}

Waited Monitor::wait_until(Monotonic until, SamplePtr &sample, const auto &is_there) const {
  std::unique_lock lock(mutex_);
  published_.wait_until(lock, until, [&] { return ended_ || is_there(); });
  if (is_there()) {
    sample = newest_.take();
    return Waited::sample;
  }
  return ended_ ? Waited::ended : Waited::timeout;
}

Waited Monitor::wait(std::uint64_t number, Monotonic until, SamplePtr &sample) const {
  return wait_until(until, sample, [&] { return number_ > number; });
}

Waited Monitor::refresh(Monotonic until, SamplePtr &sample) {
  std::uint64_t ask = 0;
  {
    const std::lock_guard lock(mutex_);
    ask = ++asks_;
    asked_.notify_all();
  }
  return wait_until(until, sample, [&] { return served_ >= ask; });
}

std::string Monitor::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::shared_ptr<Region> Monitor::begin_region(std::string name) {
  auto region = std::make_shared<Region>(std::move(name), monotonic_now(), newest_.take());
  const std::lock_guard lock(mutex_);
  regions_.push_back(region);
  return region;
}

Stats Monitor::stats() const {
  Stats stats{.interval = options_.interval};
  stats.processor = processor_time_of_our_threads();
  const auto newest = newest_.take();
  stats.from_agent = newest && newest->from_agent;
  std::shared_ptr<feed::Feed> feed;
  {
    const std::lock_guard lock(mutex_);
    stats.samples = number_;
    stats.missed = missed_;
    feed = feed_;
  }
  // An agent's calls are the agent's.
  if (feed == nullptr || stats.from_agent) return stats;
  for (const auto &cost : feed->costs()) {
    stats.driver += Seconds(cost.mean) * static_cast<double>(cost.calls);
    stats.driver_calls += cost.calls;
  }
  return stats;
}

int Monitor::subscribe() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) return -1;
  const std::lock_guard lock(mutex_);
  subscribers_.push_back(descriptor);
  return descriptor;
}

void Monitor::unsubscribe(int descriptor) {
  const std::lock_guard lock(mutex_);
  if (std::erase(subscribers_, descriptor) > 0) ::close(descriptor);
}

}  // namespace gpulse::monitor
