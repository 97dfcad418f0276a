// SPDX-License-Identifier: Apache-2.0
#include "feed/timeline.hpp"

#include <fmt/format.h>

#include <iterator>

namespace gpulse::feed {

Result<void> check_place(std::optional<std::chrono::nanoseconds> at, WallTime first, WallTime last) {
  const auto span = std::chrono::ceil<std::chrono::seconds>(last - first);
  if (!at || *at <= span) return {};
  return failure(fmt::format("--at {:g}s is behind the end", std::chrono::duration<double>(*at).count()),
                 fmt::format("there are {}s, from 0s on", span.count()));
}

LiveTimeline::LiveTimeline() {
  if (auto journal = record::Journal::open()) journal_.emplace(std::move(*journal));
}

void LiveTimeline::add(SnapshotPtr snapshot, std::optional<ToldFindings> told) {
  constexpr std::size_t kMostChanges = 1000;
  if (told_.empty() ? told.has_value() : told_.rbegin()->second != told) {
    told_.emplace(count_, std::move(told));
    if (told_.size() > kMostChanges) told_.erase(told_.begin());
  }
  // Without room for more it goes on with the newest alone: a number must stay that of its sample.
  if (journal_ && !journal_->append(snapshot)) journal_.reset();
  newest_ = std::move(snapshot);
  ++count_;
}

WallTime LiveTimeline::time(std::uint64_t number) const {
  return number + 1 == count_ || !journal_ ? newest_->time : journal_->time(number);
}

Result<SnapshotPtr> LiveTimeline::at(std::uint64_t number) {
  // The newest is whole; those in the journal lack what a recording does not keep.
  if (number + 1 == count_ || !journal_) return newest_;
  return journal_->at(number);
}

std::optional<ToldFindings> LiveTimeline::told(std::uint64_t number) {
  const auto after = told_.upper_bound(number);
  return after == told_.begin() ? std::nullopt : std::prev(after)->second;
}

std::uint64_t LiveTimeline::find(WallTime time) { return journal_ ? journal_->find(time) : newest_number(); }

WallTime JoinedTimeline::time(std::uint64_t number) const {
  return is_live(number) ? live_.time(number - kFirstLive) : past_->time(past_number(number));
}

Result<SnapshotPtr> JoinedTimeline::at(std::uint64_t number) {
  if (is_live(number)) return live_.at(number - kFirstLive);
  if (number < first()) return failure("this sample is not kept any more");
  return past_->at(past_number(number));
}

std::optional<ToldFindings> JoinedTimeline::told(std::uint64_t number) {
  if (is_live(number)) return live_.told(number - kFirstLive);
  return number < first() ? std::nullopt : past_->told(past_number(number));
}

std::uint64_t JoinedTimeline::find(WallTime time) {
  if (is_joined() && time < live_.time(live_.first())) return first() + (past_->find(time) - past_->first());
  return kFirstLive + live_.find(time);
}

bool JoinedTimeline::can_reach_back() const { return open_past_ != nullptr && !live_.empty() && !is_joined(); }

Result<void> JoinedTimeline::reach_back() {
  if (!can_reach_back()) return {};
  const auto seam = live_.first();
  auto past = open_past_(live_.time(seam));
  if (!past) return std::unexpected(std::move(past.error()));
  if (*past == nullptr || (*past)->empty()) {
    // Where there is nothing now, nobody waits for it again.
    open_past_ = nullptr;
    return {};
  }
  seam_ = seam;
  past_ = std::move(*past);
  return {};
}

}  // namespace gpulse::feed
