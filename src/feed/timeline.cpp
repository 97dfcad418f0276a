// SPDX-License-Identifier: Apache-2.0
#include "feed/timeline.hpp"

namespace gpulse::feed {

LiveTimeline::LiveTimeline() {
  if (auto journal = record::Journal::open()) journal_.emplace(std::move(*journal));
}

void LiveTimeline::add(SnapshotPtr snapshot) {
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

std::uint64_t LiveTimeline::find(WallTime time) { return journal_ ? journal_->find(time) : newest_number(); }

}  // namespace gpulse::feed
