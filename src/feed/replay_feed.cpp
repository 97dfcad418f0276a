// SPDX-License-Identifier: Apache-2.0
#include "feed/replay_feed.hpp"

#include <fmt/format.h>

#include "feed/timeline.hpp"
#include "record/replay.hpp"

namespace gpulse::feed {

namespace {

using namespace std::chrono_literals;

// The demo's most telling moment: a matrix product at full load.
constexpr auto kDemoMoment = 15s;

class ReplayFeed final : public Feed {
 public:
  ReplayFeed(record::Replay replay, const Options &options)
      : options_(options), replay_(std::move(replay)), timeline_(replay_) {}

  bool is_live() const override { return false; }

  Result<SnapshotPtr> once(const std::stop_token & /*stop*/) override {
    if (options_.at || options_.demo) return replay_.at(place_of(options_.at.value_or(kDemoMoment)));
    return replay_.at(replay_.size() - 1);
  }

  Result<SnapshotPtr> again(const std::stop_token &stop) override { return once(stop); }

  Result<SnapshotPtr> next(const std::stop_token &stop) override {
    if (!playing_ && !replay_.play(options_.speed, options_.at ? place_of(*options_.at) : 0)) {
      return failure("--speed must be above 0");
    }
    playing_ = true;
    return replay_.wait_next(stop);
  }

  Timeline *recording() override { return &timeline_; }

  std::string warning() const override {
    const auto skipped = replay_.skipped();
    if (skipped == 0) return {};
    return fmt::format("the recording is damaged: {} skipped",
                       skipped == 1 ? "1 block was" : fmt::format("{} blocks were", skipped));
  }

 private:
  std::size_t place_of(std::chrono::nanoseconds since_start) {
    return replay_.find(replay_.first_time() + since_start);
  }

  const Options options_;
  record::Replay replay_;
  ReplayTimeline timeline_;
  bool playing_ = false;
};

}  // namespace

Result<std::unique_ptr<Feed>> open_replay(const Options &options, const std::stop_token &stop) {
  auto replay = options.demo ? record::Replay::demo() : record::Replay::open(options.replay, stop, options.columns);
  if (!replay) return std::unexpected(replay.error());
  if (const auto inside = check_place(options.at, replay->first_time(), replay->last_time()); !inside) {
    return std::unexpected(inside.error());
  }
  return std::make_unique<ReplayFeed>(std::move(*replay), options);
}

}  // namespace gpulse::feed
