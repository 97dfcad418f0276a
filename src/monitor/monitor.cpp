// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/signals_blocked.hpp"
#include "base/sysroot.hpp"
#include "base/text.hpp"
#include "insight/needs.hpp"
#include "model/select.hpp"
#include "share/segment.hpp"

namespace gpulse::monitor {

namespace {

using namespace std::chrono_literals;

// Threads that a thread starts have its name: so ours are told from the program's own.
constexpr const char *kThreadName = "gpulse";

// The first sample also waits for drivers to start, which is before anything is read.
constexpr auto kLongestRead = 300ms;

// After a failure of the feed itself, such as a source that cannot be opened.
constexpr auto kTryAgain = 5s;

Seconds processor_time_of_our_threads() {
  const Sysroot root;
  const auto self = std::to_string(::getpid());
  double nanoseconds = 0;
  for (const auto &task : root.list("/proc/self/task")) {
    const auto folder = "/proc/self/task/" + task;
    // The first thread is the program's own, whatever its name.
    if (task == self || trim(root.read(folder + "/comm").value_or("")) != kThreadName) continue;
    const auto told = root.read(folder + "/schedstat").value_or("");
    std::string_view rest = told;
    nanoseconds += parse_double(next_word(rest)).value_or(0);
  }
  return Seconds(nanoseconds / 1e9);
}

feed::Options continuous(feed::Options options) {
  options.continuous = true;
  options.places = share::places_to_look();
  return options;
}

// What follows from the snapshot, made once.
void complete(Sample &sample, const SamplePtr &before) {
  sample.points = region_points(sample, before);
  for (const auto &device : sample.snapshot->devices) sample.ids.push_back(text(device.id));
}

// A driver takes up to some seconds to let go: nobody waits for that.
void close_soon(const std::shared_ptr<feed::Feed> &feed) {
  const auto until = monotonic_now() + 20ms;
  while (!feed->try_close()) {
    if (monotonic_now() > until) {
      std::thread([feed] {}).detach();  // takes it apart where nobody waits
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
  if (options.findings) only.add(insight::needs_of_findings());
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
  auto opened = feed::open(reading);
  if (!opened) return std::unexpected(opened.error());
  const std::shared_ptr<feed::Feed> feed = std::move(*opened);
  auto snapshot = feed->once();
  auto sample = std::make_unique<Sample>();
  sample->from_agent = feed->is_from_agent();
  close_soon(feed);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (*snapshot == nullptr) return failure("no sample could be taken");
  sample->snapshot = *snapshot;
  sample->at = monotonic_now();
  complete(*sample, {});
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

Monitor::Monitor(const Options &options, OpenFeed open_feed)
    : options_(options),
      open_feed_(std::move(open_feed)),
      past_(options.history, feed_options(options).only.value_or(MetricSet{})),
      findings_(options.interval),
      reading_(continuous(feed_options(options))) {
  const SignalsBlocked blocked;
  if (options.findings) findings_.begin();
  thread_ = std::jthread([this](const std::stop_token &stop) { run(stop); });
}

Monitor::~Monitor() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  std::unique_lock lock(mutex_);
  published_.wait(lock, [&] { return waiting_ == 0; });
  for (const int descriptor : subscribers_) ::close(descriptor);
}

void Monitor::run(const std::stop_token &stop) {
  ::prctl(PR_SET_NAME, kThreadName);
  do {
    // Whatever goes wrong, the program that we are a guest of goes on.
    try {
      open_and_follow(stop);
    } catch (const std::exception &problem) {
      withdraw(problem.what());
    }
  } while (must_read_more() || sleep_until(monotonic_now() + kTryAgain, stop));
  sinks_.close();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  published_.notify_all();
}

void Monitor::open_and_follow(const std::stop_token &stop) {
  if (findings_.has_begun()) {
    reading_.only->add(insight::needs_of_findings());
    reads_for_findings_ = true;
  }
  auto opened = open_feed_(reading_, stop);
  if (!opened) return withdraw(opened.error().line());
  // It may take a while to close: not with the mutex held.
  const std::shared_ptr<feed::Feed> feed = std::move(*opened);
  std::shared_ptr<feed::Feed> failed;
  {
    const std::lock_guard lock(mutex_);
    failed = std::exchange(feed_, feed);
  }
  follow(*feed, stop);
  {
    const std::lock_guard lock(mutex_);
    feed_.reset();
  }
  close_soon(feed);
}

void Monitor::follow(feed::Feed &feed, const std::stop_token &stop) {
  due_ = monotonic_now();
  first_ = true;
  while (wait_for_turn(stop) && !must_read_more()) {
    SamplePtr sample;
    {
      const std::lock_guard lock(sampling_);
      turns_.fetch_add(1, std::memory_order_relaxed);
      sample = take_turn(feed, stop);
    }
    if (!sample) return;
    watch(feed, sample->snapshot);  // which calls no driver: a fork need not wait for it
  }
}

// False: a stop was asked for.
bool Monitor::wait_for_turn(const std::stop_token &stop) {
  std::unique_lock lock(mutex_);
  asked_.wait_until(lock, stop, due_, [&] { return asks_ > served_ || must_read_more(); });
  asked_for_ = asks_;
  asked_at_ = last_ask_;
  return !stop.stop_requested();
}

// Empty: there are no more samples.
SamplePtr Monitor::take_turn(feed::Feed &feed, const std::stop_token &stop) {
  const bool in_turn = first_ || monotonic_now() >= due_;
  const auto begun = monotonic_now();
  const auto snapshot = in_turn ? feed.next(stop) : feed.again(stop);
  if (!snapshot) {
    withdraw(snapshot.error().line());
    return {};
  }
  if (*snapshot == nullptr) return {};
  auto sample = publish(*snapshot, feed.is_from_agent(), begun);
  {
    const auto now = monotonic_now();
    const std::lock_guard lock(mutex_);
    // What an agent had lying there when it was asked for is not what was asked for: its next one is.
    if (!sample->from_agent || sample->at >= asked_at_) served_ = asked_for_;
    if (in_turn) {
      // The time of the first one is not that of a turn: it waits for the drivers.
      if (!first_ && now > due_ + 2 * options_.interval)
        missed_ += static_cast<std::uint64_t>((now - due_) / options_.interval) - 1;
      due_ = first_ ? now + options_.interval : next_turn(due_, options_.interval, now);
      first_ = false;
    }
    published_.notify_all();
  }
  // A slow disk holds up nobody who waits for the sample.
  sinks_.write(sample);
  return sample;
}

void Monitor::watch(feed::Feed &feed, const SnapshotPtr &snapshot) {
  if (!findings_.has_begun()) return;
  if (!std::exchange(watching_, true)) {
    // An agent has watched before us.
    for (const auto &sample : feed.past()) {
      if (sample->time < snapshot->time) findings_.add(sample);
    }
  }
  findings_.add(snapshot);
}

SamplePtr Monitor::publish(const SnapshotPtr &snapshot, bool from_agent, Monotonic begun) {
  auto sample = std::make_unique<Sample>();
  sample->snapshot = snapshot;
  const auto before = newest_.take();
  // A sample of the agent's is a little older than the moment in which we get it.
  const auto age =
      has_time(*snapshot) ? std::clamp<std::chrono::nanoseconds>(wall_now() - snapshot->time, 0ns, 5s) : 0ns;
  sample->at = monotonic_now() - age;
  // Whoever sets the machine's clock does not turn back the time of samples.
  if (before) sample->at = std::max(sample->at, before->at);
  if (!from_agent) sample->took = std::clamp<std::chrono::nanoseconds>(sample->at - begun, 0ns, kLongestRead);
  const auto step = step_.load(std::memory_order_relaxed);
  if (step >= 0) sample->step = step;
  sample->from_agent = from_agent;
  complete(*sample, before);
  sample->number = number_ + 1;  // written by this thread only
  const SamplePtr done(sample.release());
  past_.add(*done);
  std::vector<std::weak_ptr<Region>> regions;
  {
    // At once, so that who sees the number finds the sample, and no region misses it.
    const std::lock_guard lock(mutex_);
    number_ = done->number;
    newest_.publish(done);
    problem_.clear();
    regions.swap(regions_);
  }
  add_to_regions(regions, *done);
  const std::lock_guard lock(mutex_);
  for (const int descriptor : subscribers_) ::eventfd_write(descriptor, 1);
  return done;
}

void Monitor::add_to_regions(const std::vector<std::weak_ptr<Region>> &regions, const Sample &sample) {
  std::vector<std::weak_ptr<Region>> open;
  for (const auto &one : regions) {
    const auto region = one.lock();
    if (region && region->add(sample)) open.push_back(one);
  }
  const std::lock_guard lock(mutex_);
  regions_.insert(regions_.end(), open.begin(), open.end());
  next_cleaning_ = std::max<std::size_t>(64, 2 * regions_.size());
}

// Nobody is shown what may be long gone.
void Monitor::withdraw(std::string problem) {
  findings_.withdraw();
  const std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
  newest_.publish({});
}

Waited Monitor::wait_until(std::unique_lock<std::mutex> &lock, Monotonic until, const auto &is_there) const {
  Waited waited;
  ++waiting_;
  published_.wait_until(lock, until, [&] {
    if (is_there()) waited.sample = newest_.take();
    return ended_ || waited.sample;
  });
  --waiting_;
  waited.ended = ended_ && !waited.sample;
  if (!waited.sample) waited.problem = problem_;
  if (ended_) published_.notify_all();
  return waited;
}

Waited Monitor::wait(std::uint64_t number, Monotonic until) const {
  std::unique_lock lock(mutex_);
  return wait_until(lock, until, [&] { return number_ > number; });
}

Waited Monitor::refresh(Monotonic until) {
  std::unique_lock lock(mutex_);
  const auto ask = ++asks_;
  last_ask_ = monotonic_now();
  asked_.notify_all();
  return wait_until(lock, until, [&] { return served_ >= ask; });
}

void Monitor::wait_for_end(Monotonic until) const {
  std::unique_lock lock(mutex_);
  published_.wait_until(lock, until, [&] { return ended_; });
}

std::shared_ptr<Region> Monitor::begin_region(std::string name) {
  const std::lock_guard lock(mutex_);
  // Not make_shared: the memory of one that was thrown away is to be free at once.
  std::shared_ptr<Region> region(new Region(std::move(name), monotonic_now(), newest_.take()));
  if (regions_.size() >= next_cleaning_) {
    std::erase_if(regions_, [](const auto &one) { return one.expired(); });
    next_cleaning_ = std::max<std::size_t>(64, 2 * regions_.size());
  }
  regions_.push_back(region);
  return region;
}

FindingListPtr Monitor::findings() {
  {
    const std::lock_guard lock(mutex_);
    if (findings_.begin()) asked_.notify_all();
  }
  return findings_.current();
}

Result<FindingListPtr> Monitor::diagnose(std::chrono::nanoseconds last) {
  findings();
  return findings_.judge(last);
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
  const std::lock_guard lock(mutex_);
  subscribers_.reserve(subscribers_.size() + 1);
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor >= 0) subscribers_.push_back(descriptor);
  return descriptor;
}

void Monitor::unsubscribe(int descriptor) {
  const std::lock_guard lock(mutex_);
  if (std::erase(subscribers_, descriptor) > 0) ::close(descriptor);
}

}  // namespace gpulse::monitor
