// SPDX-License-Identifier: Apache-2.0
#include "feed/history_feed.hpp"

#include <fmt/format.h>

#include "history/sample_index.hpp"

namespace gpulse::feed {

namespace {

using namespace std::chrono_literals;

class HistoryTimeline final : public Timeline {
 public:
  static Result<std::unique_ptr<HistoryTimeline>> open(const std::string &file, const history::Span &span,
                                                       const std::stop_token &stop) {
    auto opened = history::Reader::open(file, stop);
    if (!opened) return std::unexpected(opened.error());
    auto reader = std::make_unique<history::Reader>(std::move(*opened));
    auto index = history::SampleIndex::read(*reader, span);
    if (!index) return std::unexpected(index.error());
    return std::unique_ptr<HistoryTimeline>(new HistoryTimeline(std::move(reader), std::move(*index)));
  }

  std::uint64_t first() const override { return 0; }
  std::uint64_t end() const override { return index_->size(); }
  WallTime time(std::uint64_t number) const override { return index_->time(static_cast<std::size_t>(number)); }
  Result<SnapshotPtr> at(std::uint64_t number) override {
    if (number >= end()) return failure(fmt::format("there is no sample number {}", number));
    return index_->at(static_cast<std::size_t>(number));
  }
  std::uint64_t find(WallTime time) override { return index_->find(time); }

 private:
  HistoryTimeline(std::unique_ptr<history::Reader> reader, history::SampleIndex index)
      : reader_(std::move(reader)), index_(std::make_unique<history::SampleIndex>(std::move(index))) {}

  std::unique_ptr<history::Reader> reader_;
  std::unique_ptr<history::SampleIndex> index_;  // reads times when it is asked for them
};

class HistoryFeed final : public Feed {
 public:
  HistoryFeed(std::unique_ptr<Timeline> timeline, const Options &options)
      : at_(options.at), speed_(options.speed), timeline_(std::move(timeline)) {}

  bool is_live() const override { return false; }
  Result<SnapshotPtr> once(const std::stop_token & /*stop*/) override {
    return timeline_->at(at_ ? place_of(*at_) : timeline_->end() - 1);
  }
  Result<SnapshotPtr> again(const std::stop_token &stop) override { return once(stop); }
  Result<SnapshotPtr> next(const std::stop_token &stop) override;
  Timeline *recording() override { return timeline_.get(); }

 private:
  std::uint64_t place_of(std::chrono::nanoseconds since_start) {
    return timeline_->find(timeline_->time(timeline_->first()) + since_start);
  }

  const std::optional<std::chrono::nanoseconds> at_;
  const double speed_;
  std::unique_ptr<Timeline> timeline_;
  std::optional<std::uint64_t> next_;
  Monotonic due_{};
};

Result<SnapshotPtr> HistoryFeed::next(const std::stop_token &stop) {
  if (!next_) {
    next_ = at_ ? place_of(*at_) : timeline_->first();
    due_ = monotonic_now();
  }
  if (*next_ >= timeline_->end() || !sleep_until(due_, stop)) return SnapshotPtr();
  auto sample = timeline_->at(*next_);
  if (++*next_ < timeline_->end()) {
    std::chrono::nanoseconds pause = timeline_->time(*next_) - timeline_->time(*next_ - 1);
    if (pause < 0s || pause >= 1min) pause = 1s;
    due_ += std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(pause.count()) / speed_));
  }
  return sample;
}

}  // namespace

Result<std::unique_ptr<Timeline>> open_past(const std::string &file, const history::Span &span,
                                            const std::stop_token &stop) {
  return HistoryTimeline::open(file, span, stop);
}

Result<std::unique_ptr<Feed>> open_history(const std::string &file, const history::Span &span, const Options &options,
                                           const std::stop_token &stop) {
  auto timeline = open_past(file, span, stop);
  if (!timeline) return std::unexpected(timeline.error());
  if ((*timeline)->empty()) return failure(fmt::format("{} has nothing of that time", file));
  const auto first = (*timeline)->time((*timeline)->first()), last = (*timeline)->time((*timeline)->end() - 1);
  if (const auto inside = check_place(options.at, first, last); !inside) return std::unexpected(inside.error());
  return std::make_unique<HistoryFeed>(std::move(*timeline), options);
}

}  // namespace gpulse::feed
