// SPDX-License-Identifier: Apache-2.0
#include "feed/agent_feed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "feed/live_feed.hpp"
#include "feed/own_processes.hpp"
#include "feed/own_view.hpp"
#include "share/connection.hpp"
#include "share/findings.hpp"
#include "share/segment.hpp"

namespace gpulse::feed {

namespace {

using namespace std::chrono_literals;

// How often to look for an agent that is not there, or to ask one again for its rate.
constexpr auto kLookAgain = 30s;
// An agent that was started anew is there again within this time.
constexpr auto kRestart = 1500ms;
// What it has found is of now only if it was judged about now.
constexpr auto kJudgedWithin = 30s;

std::string interval_words(std::chrono::nanoseconds interval) {
  return fmt::format("{:g} s", std::chrono::duration<double>(interval).count());
}

class AgentFeed final : public Feed {
 public:
  explicit AgentFeed(const Options &options) : options_(options) {}

  // Why this program has to read by itself.
  Result<void> attach();
  Result<void> poll(const Error &why);

  bool is_live() const override { return true; }
  Result<SnapshotPtr> once(const std::stop_token &stop) override;
  Result<SnapshotPtr> again(const std::stop_token &stop) override;
  Result<SnapshotPtr> next(const std::stop_token &stop) override;
  Result<void> follow(const std::stop_token &stop, const std::function<bool(const SnapshotPtr &)> &take) override;
  std::string warning() const override {
    const std::lock_guard lock(warning_mutex_);
    return warning_;
  }
  void focus(const MetricSet &set) override;
  void set_interval(std::chrono::nanoseconds interval) override;
  std::vector<SnapshotPtr> past() override;
  std::optional<std::vector<insight::Finding>> findings() override;
  std::optional<AgentInfo> agent() const override;
  bool is_from_agent() const override { return segment_.has_value(); }
  std::vector<CostReport> costs() const override;

 private:
  // Whether the snapshot lacks what is asked for.
  bool wants_details(const Snapshot &snapshot) const;
  bool wants_rate() const { return options_.continuous || follows_; }
  Result<void> ask_for_rate();
  Result<SnapshotPtr> take(const std::stop_token &stop);
  Result<void> add_details(Snapshot &snapshot);
  Result<SnapshotPtr> take_or_poll(const std::stop_token &stop);
  Result<SnapshotPtr> poll_next(const Error &why, const std::stop_token &stop);
  void look_for_agent();
  std::optional<share::SegmentReader> find_segment(std::string &problem) const;
  [[gnu::cold]] bool is_agent_there();

  Options options_;  // but for the interval, as they were given
  // Some functions may come from any thread. Guards what they look at; the thread that drives the feed is the only one
  // that changes `segment_` and `own_`, and looks at them without it.
  mutable std::mutex mutex_;
  mutable std::optional<share::Connection> connection_;
  std::optional<MetricSet> focus_;
  std::optional<share::SegmentReader> segment_;  // none: this program reads by itself
  std::unique_ptr<Feed> own_;
  // Made when there is a sample of an agent: they look up things that nobody else needs.
  std::optional<OwnView> view_;
  std::optional<OwnProcesses> processes_;
  mutable std::mutex warning_mutex_;  // of its own: nobody who asks waits for the agent
  std::string warning_;
  bool told_ = false;
  bool follows_ = false;          // next() is called
  std::uint64_t number_ = 0;      // of the sample that was handed on last
  std::optional<WallTime> time_;  // of that one, whose number means nothing to another agent
  std::optional<Monotonic> due_;
  Monotonic next_look_{};
};

Result<void> AgentFeed::attach() {
  std::string problem;
  auto found = find_segment(problem);
  const std::lock_guard lock(mutex_);
  segment_ = std::move(found);
  if (!segment_) return failure(problem);
  number_ = 0;
  connection_.reset();
  if (!wants_rate()) return {};
  auto connection = share::Connection::open(segment_->place());
  if (connection) connection_ = std::move(*connection);
  const auto asked = ask_for_rate();
  if (!asked) segment_.reset();
  return asked;
}

// With the mutex held.
Result<void> AgentFeed::ask_for_rate() {
  auto interval = segment_->interval();
  if (connection_) {
    const auto granted = connection_->want(options_.interval, focus_ ? &*focus_ : nullptr);
    if (!granted) return std::unexpected(granted.error());
    interval = *granted;
  }
  // A clock that is a little off is no reason.
  if (interval <= options_.interval + options_.interval / 20) return {};
  return failure(fmt::format("the agent samples every {}, not every {}", interval_words(interval),
                             interval_words(options_.interval)));
}

Result<void> AgentFeed::poll(const Error &why) {
  {
    const std::lock_guard lock(mutex_);
    segment_.reset();
    connection_.reset();
  }
  auto live = open_live(options_);
  if (!live) return std::unexpected(live.error());
  {
    const std::lock_guard lock(mutex_);
    own_ = std::move(*live);
    if (focus_) own_->focus(*focus_);
  }
  next_look_ = monotonic_now() + kLookAgain;
  // Said once. That there is no agent is nothing to speak of.
  const std::lock_guard lock(warning_mutex_);
  warning_.clear();
  if (!why.what.empty() && !std::exchange(told_, true))
    warning_ = why.line() + ": this program reads the GPUs by itself";
  return {};
}

bool AgentFeed::wants_details(const Snapshot &snapshot) const {
  if (!options_.only) return false;
  const bool split = std::ranges::any_of(snapshot.devices, &Device::is_instance);
  bool wants = false;
  options_.only->for_each(Scope::detail,
                          [&](MetricId id) { wants = wants || split || !options_.of_instances.contains(id); });
  return wants;
}

Result<void> AgentFeed::add_details(Snapshot &snapshot) {
  const std::lock_guard lock(mutex_);
  if (!connection_) {
    auto connection = share::Connection::open(segment_->place());
    if (!connection) return std::unexpected(connection.error());
    connection_ = std::move(*connection);
  }
  auto answer = connection_->details(*options_.only);
  if (!answer) return std::unexpected(answer.error());
  for (auto &device : snapshot.devices) {
    if (device.identity == nullptr) continue;
    const auto found = std::ranges::find(answer->devices, device.identity->uuid, &share::DetailsOf::uuid);
    if (found != answer->devices.end()) device.details = std::make_shared<DeviceDetails>(std::move(found->details));
  }
  return {};
}

// One that was handed on before is none.
Result<SnapshotPtr> AgentFeed::take(const std::stop_token &stop) {
  auto taken = segment_->latest();
  if (!taken) return std::unexpected(taken.error());
  if (taken->snapshot->time == time_) {
    if (auto good = segment_->check(); !good) return std::unexpected(good.error());
    return failure(fmt::format("the agent in {} has nothing new", segment_->place().folder));
  }
  // The processes of a recording are not ours, whatever their pids.
  if (taken->snapshot->origin.empty()) {
    if (!view_) view_.emplace(options_.only);
    if (!processes_) processes_.emplace(options_);
    view_->complete(*taken->snapshot, segment_->layout().pid_namespace);
    processes_->add(*taken->snapshot, stop);
  }
  // Without devices it has let go of them, and says so in the sample.
  if (!taken->snapshot->devices.empty() && wants_details(*taken->snapshot)) {
    if (auto added = add_details(*taken->snapshot); !added) return std::unexpected(added.error());
  }
  number_ = taken->number;
  time_ = taken->snapshot->time;
  return std::move(taken->snapshot);
}

Result<SnapshotPtr> AgentFeed::poll_next(const Error &why, const std::stop_token &stop) {
  if (auto good = poll(why); !good) return std::unexpected(good.error());
  if (options_.notice && !warning_.empty()) options_.notice(warning_);
  return own_->next(stop);
}

Result<SnapshotPtr> AgentFeed::take_or_poll(const std::stop_token &stop) {
  auto sample = take(stop);
  if (sample) return sample;
  // It may have been started anew, or have needed more room.
  const auto until = monotonic_now() + kRestart;
  do {
    if (attach()) {
      if (auto other = take(stop)) return other;
    }
    if (!sleep_until(monotonic_now() + 50ms, stop)) return SnapshotPtr{};
  } while (wants_rate() && monotonic_now() < until);
  return poll_next(sample.error(), stop);
}

Result<SnapshotPtr> AgentFeed::once(const std::stop_token &stop) {
  if (own_) return own_->once(stop);
  time_.reset();
  return take_or_poll(stop);
}

Result<SnapshotPtr> AgentFeed::again(const std::stop_token &stop) {
  if (own_) return own_->again(stop);
  segment_->wait_beyond(number_, monotonic_now() + 2 * segment_->interval(), stop);
  return stop.stop_requested() ? Result<SnapshotPtr>(SnapshotPtr{}) : take_or_poll(stop);
}

std::optional<share::SegmentReader> AgentFeed::find_segment(std::string &problem) const {
  return options_.places ? share::SegmentReader::find(problem, *options_.places) : share::SegmentReader::find(problem);
}

// If not, it is looked for again a while later.
bool AgentFeed::is_agent_there() {
  std::string unused;
  if (find_segment(unused)) return true;
  next_look_ = monotonic_now() + kLookAgain;
  return false;
}

// While this program reads by itself: one that is there again spares it that.
void AgentFeed::look_for_agent() {
  if (monotonic_now() < next_look_) return;
  next_look_ = monotonic_now() + kLookAgain;
  if (!attach()) return;
  // The drivers are closed without keeping others from looking.
  std::unique_ptr<Feed> closing;
  const std::lock_guard lock(mutex_);
  closing = std::move(own_);
}

Result<SnapshotPtr> AgentFeed::next(const std::stop_token &stop) {
  if (own_) look_for_agent();
  if (own_) return own_->next(stop);
  // Who was not known to take more than one asks for his rate now.
  if (!std::exchange(follows_, true) && !options_.continuous) {
    if (const auto attached = attach(); !attached) return poll_next(attached.error(), stop);
  }
  if (due_) {
    if (!sleep_until(*due_, stop)) return SnapshotPtr{};
    segment_->wait_beyond(number_, monotonic_now() + std::max<std::chrono::nanoseconds>(segment_->interval(), 2s),
                          stop);
    if (stop.stop_requested()) return SnapshotPtr{};
  }
  auto sample = take_or_poll(stop);
  due_ = next_turn(due_.value_or(monotonic_now()), options_.interval, monotonic_now());
  return sample;
}

Result<void> AgentFeed::follow(const std::stop_token &stop, const std::function<bool(const SnapshotPtr &)> &take) {
  for (;;) {
    if (!own_) {
      const auto sample = next(stop);
      if (!sample) return std::unexpected(sample.error());
      if (*sample == nullptr || !take(*sample)) return {};
      continue;
    }
    // Its own way of following is cheaper; it is interrupted when there is an agent.
    bool more = true;
    const auto done = own_->follow(stop, [&] [[gnu::hot]] (const SnapshotPtr &sample) {
      more = take(sample);
      return more && (monotonic_now() < next_look_ || !is_agent_there());
    });
    if (!done || !more || stop.stop_requested()) return done;
    look_for_agent();
  }
}

void AgentFeed::focus(const MetricSet &set) {
  const std::lock_guard lock(mutex_);
  focus_ = set;
  // What it cannot be told it reads anyway.
  if (connection_) static_cast<void>(connection_->want(options_.interval, &set));
  if (own_) own_->focus(set);
}

void AgentFeed::set_interval(std::chrono::nanoseconds interval) {
  const std::lock_guard lock(mutex_);
  options_.interval = interval;
  if (due_) due_ = std::min(*due_, monotonic_now() + interval);
  // An agent that will not go any faster is the best there is.
  if (connection_) static_cast<void>(connection_->want(interval, focus_ ? &*focus_ : nullptr));
  if (own_) own_->set_interval(interval);
}

std::vector<SnapshotPtr> AgentFeed::past() {
  std::vector<SnapshotPtr> all;
  const std::lock_guard lock(mutex_);
  if (!segment_) return all;
  for (auto &sample : segment_->past()) all.push_back(std::move(sample.snapshot));
  return all;
}

std::optional<std::vector<insight::Finding>> AgentFeed::findings() {
  const std::lock_guard lock(mutex_);
  if (!segment_ || !time_) return std::nullopt;
  auto published = share::read_findings(segment_->place());
  // An agent that is slow, or one of before.
  if (!published || published->judged < *time_ - kJudgedWithin || published->judged > *time_ + kJudgedWithin)
    return std::nullopt;
  return std::move(published->findings);
}

std::optional<AgentInfo> AgentFeed::agent() const {
  const std::lock_guard lock(mutex_);
  if (!segment_) return std::nullopt;
  const auto taken = segment_->latest();
  return AgentInfo{.folder = segment_->place().folder,
                   .pid = segment_->layout().pid,
                   .interval = segment_->interval(),
                   .age = taken ? taken->age : 0ns};
}

std::vector<CostReport> AgentFeed::costs() const {
  std::vector<CostReport> all;
  std::optional<share::Place> place;
  {
    const std::lock_guard lock(mutex_);
    if (own_) return own_->costs();
    if (!segment_) return all;
    place = segment_->place();
  }
  auto connection = share::Connection::open(*place);
  if (!connection) return all;
  const auto status = connection->status();
  if (!status) return all;
  for (const auto &cost : status->costs) {
    all.push_back({.source = cost.source,
                   .call = cost.call,
                   .tier = static_cast<Tier>(std::min<std::uint8_t>(cost.tier, static_cast<std::uint8_t>(Tier::once))),
                   .slowed = cost.slowed,
                   .mean = cost.mean,
                   .calls = cost.calls});
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<Feed>> open_agent(const Options &options) {
  // Nothing to look for, and nothing to come back.
  if (options.places ? options.places->empty() : share::is_off()) return open_live(options);
  auto feed = std::make_unique<AgentFeed>(options);
  if (const auto attached = feed->attach(); !attached) {
    if (!options.continuous && attached.error().what.empty()) return open_live(options);
    if (auto good = feed->poll(attached.error()); !good) return std::unexpected(good.error());
  }
  return feed;
}

}  // namespace gpulse::feed
