// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <list>
#include <mutex>
#include <utility>

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;

constexpr auto kLeastInterval = 1s;
constexpr auto kLongestWait = 10s;
constexpr std::size_t kPieceSteps = 120;  // whole samples are large
constexpr std::size_t kKeptPieces = 8;

std::chrono::seconds step_of(const HostFeedOptions &options) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(options.interval), std::chrono::seconds(1));
}

// Somebody looks at the screen while it is asked.
EngineOptions in_short(EngineOptions engine) {
  engine.client.total_time = std::min<decltype(engine.client.total_time)>(engine.client.total_time, kLongestWait);
  return engine;
}

class HostFeed final : public feed::Feed {
 public:
  explicit HostFeed(HostFeedOptions options)
      : options_(std::move(options)), asker_(in_short(options_.engine), options_.host), interval_(options_.interval) {}

  bool is_live() const override { return true; }

  Result<SnapshotPtr> once(const std::stop_token &stop) override {
    auto sample = ask(stop);
    if (!sample) return std::unexpected(sample.error());
    if (*sample == nullptr && !stop.stop_requested()) return failure(warning());
    return sample;
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
        return sample;
      }
      if (asked_ && !sleep_until(due_, stop)) return SnapshotPtr();
      asked_ = true;
      due_ = monotonic_now() + interval_;
      const auto sample = ask(stop);
      if (stop.stop_requested()) return SnapshotPtr();
      if (sample && *sample != nullptr) return *sample;
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
  std::optional<std::vector<insight::Finding>> findings() override {
    const std::lock_guard lock(mutex_);
    return findings_;
  }

 private:
  void ask_for_past(const std::stop_token &stop) {
    const auto now = wall_now();
    auto samples = asker_.samples(now - options_.before, now, step_of(options_), stop);
    if (!samples) return warn(samples.error().error.what.str());
    for (auto &sample : *samples) past_.push_back(std::move(sample.snapshot));
    if (!past_.empty()) newest_ = past_.back()->time;
    handed_out_ = !past_.empty();
  }

  // Null: there is none that is newer than the last.
  Result<SnapshotPtr> ask(const std::stop_token &stop) {
    auto sample = asker_.sample(wall_now(), stop);
    if (!sample) {
      warn(sample.error().error.what.str());
      return std::unexpected(sample.error().error);
    }
    if (sample->snapshot == nullptr || sample->snapshot->time < newest_) {
      warn(fmt::format("{} is silent: the engine has nothing of it any more", options_.host.name));
      return SnapshotPtr();
    }
    if (sample->snapshot->time == newest_ && handed_out_) {
      const auto age = std::chrono::floor<std::chrono::seconds>(wall_now() - newest_);
      if (age > 60s + 3 * interval_) warn(fmt::format("{} is silent since {} s", options_.host.name, age.count()));
      return SnapshotPtr();
    }
    newest_ = sample->snapshot->time;
    handed_out_ = true;
    const std::lock_guard lock(mutex_);
    warning_.clear();
    findings_ = std::move(sample->findings);
    return sample->snapshot;
  }

  void warn(std::string text) {
    const std::lock_guard lock(mutex_);
    warning_ = std::move(text);
  }

  const HostFeedOptions options_;
  HostAsker asker_;  // of the thread that drives the feed
  std::chrono::nanoseconds interval_;
  WallTime newest_{};
  bool handed_out_ = false, asked_ = false, has_begun_ = false;
  std::deque<SnapshotPtr> past_{};
  Monotonic due_{};

  mutable std::mutex mutex_;  // guards what follows
  std::string warning_{};
  std::vector<insight::Finding> findings_{};
};

// Knows when samples were taken, and reads them in pieces.
class HostTimeline final : public feed::Timeline {
 public:
  HostTimeline(const HostFeedOptions &options, std::vector<HostMoment> moments)
      : step_(step_of(options)), asker_(in_short(options.engine), options.host), moments_(std::move(moments)) {}

  std::uint64_t first() const override { return 0; }
  std::uint64_t end() const override { return moments_.size(); }
  WallTime time(std::uint64_t number) const override { return moments_[static_cast<std::size_t>(number)].taken; }
  std::uint64_t find(WallTime time) override {
    const auto after = std::ranges::upper_bound(moments_, time, {}, &HostMoment::taken);
    return after == moments_.begin() ? 0 : static_cast<std::uint64_t>(after - moments_.begin()) - 1;
  }

  Result<SnapshotPtr> at(std::uint64_t number) override {
    if (number >= end()) return failure(fmt::format("there is no sample number {}", number));
    const auto piece = static_cast<std::size_t>(number) / kPieceSteps;
    const auto samples = read(piece);
    if (!samples) return std::unexpected(samples.error());
    const auto wanted = this->time(number);
    const auto found =
        std::ranges::lower_bound(**samples, wanted, {}, [](const SnapshotPtr &one) { return one->time; });
    if (found == (*samples)->end() || (*found)->time != wanted) return failure("the engine does not have it any more");
    return *found;
  }

 private:
  struct Piece {
    std::size_t number = 0;
    std::vector<SnapshotPtr> samples{};
  };

  Result<const std::vector<SnapshotPtr> *> read(std::size_t number) {
    const auto known = std::ranges::find(pieces_, number, &Piece::number);
    if (known != pieces_.end()) {
      pieces_.splice(pieces_.begin(), pieces_, known);
      return &pieces_.front().samples;
    }
    const auto begin = number * kPieceSteps;
    const auto last = std::min(begin + kPieceSteps, moments_.size()) - 1;
    auto samples = asker_.samples(moments_[begin].step, moments_[last].step, step_);
    if (!samples) return std::unexpected(samples.error().error);
    Piece piece{.number = number};
    for (auto &sample : *samples) piece.samples.push_back(std::move(sample.snapshot));
    pieces_.push_front(std::move(piece));
    if (pieces_.size() > kKeptPieces) pieces_.pop_back();
    return &pieces_.front().samples;
  }

  const std::chrono::seconds step_;
  HostAsker asker_;
  const std::vector<HostMoment> moments_;
  std::list<Piece> pieces_{};  // used last first
};

class PlayedHost final : public feed::Feed {
 public:
  explicit PlayedHost(std::unique_ptr<feed::Timeline> timeline) : timeline_(std::move(timeline)) {}

  bool is_live() const override { return false; }
  Result<SnapshotPtr> once(const std::stop_token & /*stop*/) override { return timeline_->at(timeline_->end() - 1); }
  Result<SnapshotPtr> again(const std::stop_token &stop) override { return once(stop); }
  Result<SnapshotPtr> next(const std::stop_token &stop) override {
    if (next_ == timeline_->end() || (next_ > 0 && !sleep_until(monotonic_now() + 1s, stop))) return SnapshotPtr();
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

EngineResult<std::unique_ptr<feed::Timeline>> open_host_past(const HostFeedOptions &options, WallTime first,
                                                             WallTime last, const std::stop_token &stop) {
  HostAsker asker(options.engine, options.host);
  auto moments = asker.moments(first, last, step_of(options), stop);
  if (!moments) return std::unexpected(moments.error());
  return std::make_unique<HostTimeline>(options, std::move(*moments));
}

Result<std::unique_ptr<feed::Feed>> replay_host(const HostFeedOptions &options, WallTime first, WallTime last,
                                                const std::stop_token &stop) {
  auto timeline = open_host_past(options, first, last, stop);
  if (!timeline) return std::unexpected(timeline.error().error);
  if ((*timeline)->empty()) {
    return failure(fmt::format("the engine has nothing of {} of that time", options.host.name), "name another time");
  }
  return std::make_unique<PlayedHost>(std::move(*timeline));
}

}  // namespace gpulse::fleet
