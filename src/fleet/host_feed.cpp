// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <list>
#include <mutex>
#include <utility>

#include "insight/catalogue.hpp"
#include "view/cell.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;

constexpr auto kLeastInterval = 1s;
constexpr std::size_t kPieceSteps = 120;  // whole samples are large
constexpr std::size_t kKeptPieces = 8;
constexpr auto kTroubleKept = 5s;

std::chrono::seconds step_of(const HostFeedOptions &options) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(options.interval), std::chrono::seconds(1));
}

Error given_up() { return {"the engine did not answer in time"}; }

// On a thread of its own, for as long as whoever wants the answer waits.
template <class Answer, class Ask>
Result<Answer> ask_patiently(const std::shared_ptr<feed::Patience> &patience, Ask ask) {
  std::stop_source stop;
  const auto on_its_own = [&] { return ask(stop.get_token()); };
  auto coming = std::async(patience && patience->goes_on ? std::launch::async : std::launch::deferred, on_its_own);
  const auto begun = monotonic_now();
  while (coming.wait_for(50ms) == std::future_status::timeout) {
    if (!patience->goes_on(monotonic_now() - begun)) stop.request_stop();
  }
  auto answer = coming.get();
  if (answer) return std::move(*answer);
  return std::unexpected(stop.stop_requested() ? given_up() : answer.error().error);
}

// What was found before too has been so since then.
void go_on(std::vector<insight::Finding> &now, const std::vector<insight::Finding> &before) {
  for (auto &finding : now) {
    const auto same = std::ranges::find_if(before, [&](const insight::Finding &one) {
      return one.id == finding.id && one.devices == finding.devices && one.text == finding.text;
    });
    if (same != before.end()) finding.since = same->since;
  }
}

// How sure the agent was, and what it saw, stayed there; what to try is known here too.
void complete(std::vector<insight::Finding> &findings) {
  for (auto &finding : findings) {
    finding.confidence = 0;
    finding.until = finding.since;
    const auto fix = insight::describe(finding.id).fix.all();
    finding.advice.assign(fix.begin(), fix.end());
  }
}

void go_on(std::vector<HostSample> &samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) go_on(samples[i].findings, samples[i - 1].findings);
    complete(samples[i].findings);
  }
}

class HostFeed final : public feed::Feed {
 public:
  explicit HostFeed(HostFeedOptions options)
      : options_(std::move(options)), asker_(in_short(options_.engine), options_.host), interval_(options_.interval) {}

  bool is_live() const override { return true; }

  Result<SnapshotPtr> once(const std::stop_token &stop) override {
    auto sample = ask(stop);
    if (!sample) return std::unexpected(sample.error());
    if (sample->snapshot == nullptr && !stop.stop_requested()) return failure(warning());
    return hand_out(std::move(*sample));
  }
  Result<SnapshotPtr> again(const std::stop_token &stop) override { return once(stop); }

  // Waits for one that is new, however long that takes: a host may be silent, or the engine away. The first ones are
  // those of a while ago, so that whoever follows has them without waiting for them before.
  Result<SnapshotPtr> next(const std::stop_token &stop) override {
    if (!std::exchange(has_begun_, true)) ask_for_past(stop);
    while (!stop.stop_requested()) {
      if (!past_.empty()) {
        auto sample = std::move(past_.front());
        past_.pop_front();
        return hand_out(std::move(sample));
      }
      if (asked_ && !sleep_until(due_, stop)) return SnapshotPtr();
      asked_ = true;
      due_ = monotonic_now() + interval_;
      auto sample = ask(stop);
      if (stop.stop_requested()) return SnapshotPtr();
      if (sample && sample->snapshot != nullptr) return hand_out(std::move(*sample));
    }
    return SnapshotPtr();
  }

  std::string warning() const override {
    const std::lock_guard lock(mutex_);
    return warning_;
  }
  void set_interval(std::chrono::nanoseconds interval) override {
    interval_ = std::max<std::chrono::nanoseconds>(interval, kLeastInterval);
  }
  // Those of the sample that was handed out last.
  std::optional<std::vector<insight::Finding>> findings() override {
    if (options_.host.exporter != Exporter::gpulse) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return findings_;
  }

 private:
  void ask_for_past(const std::stop_token &stop) {
    const auto now = wall_now();
    auto samples = asker_.samples(now - options_.before, now, step_of(options_), stop);
    // Of one that is silent at least the last that was heard.
    if (samples && samples->empty() && options_.last) {
      samples = asker_.samples(*options_.last - options_.before, *options_.last + 1s, step_of(options_), stop);
    }
    if (!samples) return warn(samples.error().error.what.str());
    go_on(*samples);
    std::ranges::move(*samples, std::back_inserter(past_));
    if (past_.empty()) return;
    newest_ = past_.back().snapshot->time;
    if (is_silent()) warn_of_silence();
  }

  // None of its samples: there is none that is newer than the last.
  Result<HostSample> ask(const std::stop_token &stop) {
    auto sample = asker_.sample(wall_now(), stop);
    if (!sample) {
      warn(sample.error().error.what.str());
      return std::unexpected(sample.error().error);
    }
    const bool is_new = sample->snapshot != nullptr && sample->snapshot->time > newest_;
    if (!is_new) {
      if (sample->snapshot == nullptr || is_silent()) warn_of_silence();
      return HostSample{};
    }
    if (newest_ != WallTime()) moved_ = monotonic_now();
    newest_ = sample->snapshot->time;
    warn({});
    return std::move(*sample);
  }

  // Its clock need not be ours: once it has moved, it is silent since it has not moved any more.
  std::chrono::nanoseconds silence() const { return moved_ ? monotonic_now() - *moved_ : wall_now() - newest_; }
  bool is_silent() const { return silence() > 60s + 3 * interval_; }

  void warn_of_silence() {
    if (newest_ == WallTime()) return warn(fmt::format("the engine has no samples of {}", options_.host.name));
    warn(
        fmt::format("{} has been silent for {}", options_.host.name, view::short_duration(Seconds(silence()).count())));
  }

  SnapshotPtr hand_out(HostSample sample) {
    const std::lock_guard lock(mutex_);
    go_on(sample.findings, findings_);
    complete(sample.findings);
    findings_ = std::move(sample.findings);
    return std::move(sample.snapshot);
  }

  void warn(std::string text) {
    const std::lock_guard lock(mutex_);
    warning_ = std::move(text);
  }

  const HostFeedOptions options_;
  HostAsker asker_;  // of the thread that drives the feed
  std::chrono::nanoseconds interval_;
  WallTime newest_{};
  std::optional<Monotonic> moved_{};  // a newer sample than the first came
  bool asked_ = false, has_begun_ = false;
  std::deque<HostSample> past_{};
  Monotonic due_{};

  mutable std::mutex mutex_;  // guards what follows
  std::string warning_{};
  std::vector<insight::Finding> findings_{};
};

// Knows when samples were taken, and reads them in pieces, for as long as somebody waits for them.
class HostTimeline final : public feed::Timeline {
 public:
  HostTimeline(const HostFeedOptions &options, std::vector<HostMoment> moments)
      : step_(step_of(options)),
        is_agent_(options.host.exporter == Exporter::gpulse),
        patience_(options.patience),
        asker_(in_short(options.engine), options.host),
        moments_(std::move(moments)) {}

  std::uint64_t first() const override { return 0; }
  std::uint64_t end() const override { return moments_.size(); }
  WallTime time(std::uint64_t number) const override { return moments_[static_cast<std::size_t>(number)].taken; }
  std::uint64_t find(WallTime time) override {
    const auto after = std::ranges::upper_bound(moments_, time, {}, &HostMoment::taken);
    return after == moments_.begin() ? 0 : static_cast<std::uint64_t>(after - moments_.begin()) - 1;
  }

  Result<SnapshotPtr> at(std::uint64_t number) override {
    if (number >= end()) return failure(fmt::format("there is no sample number {}", number));
    const auto sample = find_sample(number);
    if (!sample) return std::unexpected(sample.error());
    return (*sample)->snapshot;
  }

  std::optional<feed::ToldFindings> told(std::uint64_t number) override {
    const auto sample = number < end() ? find_sample(number) : failure("there is none");
    if (!sample || !is_agent_) return feed::ToldFindings{};
    return feed::ToldFindings{
        .is_known = true, .all = (*sample)->findings, .begin = pieces_.front().samples.front().snapshot->time};
  }

 private:
  struct Piece {
    std::size_t number = 0;
    std::vector<HostSample> samples{};
  };

  Result<const HostSample *> find_sample(std::uint64_t number) {
    const auto samples = read(static_cast<std::size_t>(number) / kPieceSteps);
    if (!samples) return std::unexpected(samples.error());
    const auto wanted = this->time(number);
    const auto found =
        std::ranges::lower_bound(**samples, wanted, {}, [](const HostSample &one) { return one.snapshot->time; });
    if (found == (*samples)->end() || found->snapshot->time != wanted) {
      return failure("the engine no longer has this sample");
    }
    return &*found;
  }

  Result<const std::vector<HostSample> *> read(std::size_t number) {
    const auto known = std::ranges::find(pieces_, number, &Piece::number);
    if (known != pieces_.end()) {
      pieces_.splice(pieces_.begin(), pieces_, known);
      return &pieces_.front().samples;
    }
    // A plot wants hundreds of samples, each of which would wait for an engine that hangs.
    if (monotonic_now() < retry_) return std::unexpected(trouble_);
    const auto begin = number * kPieceSteps;
    const auto last = std::min(begin + kPieceSteps, moments_.size()) - 1;
    auto samples = ask_patiently<std::vector<HostSample>>(patience_, [&](const std::stop_token &stop) {
      return asker_.samples(moments_[begin].step, moments_[last].step, step_, stop);
    });
    if (!samples) {
      trouble_ = samples.error();
      retry_ = monotonic_now() + kTroubleKept;
      return std::unexpected(trouble_);
    }
    go_on(*samples);
    pieces_.push_front({.number = number, .samples = std::move(*samples)});
    if (pieces_.size() > kKeptPieces) pieces_.pop_back();
    return &pieces_.front().samples;
  }

  const std::chrono::seconds step_;
  const bool is_agent_;
  const std::shared_ptr<feed::Patience> patience_;
  HostAsker asker_;
  const std::vector<HostMoment> moments_;
  std::list<Piece> pieces_{};  // used last first
  Error trouble_{};            // why the last one could not be read
  Monotonic retry_{};
};

class PlayedHost final : public feed::Feed {
 public:
  explicit PlayedHost(std::unique_ptr<feed::Timeline> timeline) : timeline_(std::move(timeline)) {}

  bool is_live() const override { return false; }
  Result<SnapshotPtr> once(const std::stop_token & /*stop*/) override { return timeline_->at(timeline_->end() - 1); }
  Result<SnapshotPtr> again(const std::stop_token &stop) override { return once(stop); }
  // At the pace at which the samples were taken.
  Result<SnapshotPtr> next(const std::stop_token &stop) override {
    if (next_ == timeline_->end()) return SnapshotPtr();
    if (next_ > 0) {
      const auto pause = timeline_->time(next_) - timeline_->time(next_ - 1);
      if (!sleep_until(monotonic_now() + pause, stop)) return SnapshotPtr();
    }
    return timeline_->at(next_++);
  }
  feed::Timeline *recording() override { return timeline_.get(); }

 private:
  std::unique_ptr<feed::Timeline> timeline_;
  std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<feed::Feed> open_host(HostFeedOptions options) {
  return std::make_unique<HostFeed>(std::move(options));
}

Result<std::unique_ptr<feed::Timeline>> open_host_past(const HostFeedOptions &options, WallTime first, WallTime last) {
  HostAsker asker(options.engine, options.host);
  auto moments = ask_patiently<std::vector<HostMoment>>(options.patience, [&](const std::stop_token &stop) {
    return asker.moments(first, last, step_of(options), stop);
  });
  if (!moments) return std::unexpected(moments.error());
  return std::make_unique<HostTimeline>(options, std::move(*moments));
}

Result<std::unique_ptr<feed::Feed>> replay_host(const HostFeedOptions &options, WallTime first, WallTime last) {
  auto timeline = open_host_past(options, first, last);
  if (!timeline) return std::unexpected(timeline.error());
  if ((*timeline)->empty()) {
    return failure(fmt::format("the engine has no samples of {} at that time", options.host.name),
                   "choose another time");
  }
  return std::make_unique<PlayedHost>(std::move(*timeline));
}

}  // namespace gpulse::fleet
