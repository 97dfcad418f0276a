// SPDX-License-Identifier: Apache-2.0
// The samples that the live view can show, by number: what it has seen since it began, or a recording. UI thread only.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "model/snapshot.hpp"
#include "record/journal.hpp"
#include "record/replay.hpp"

namespace gpulse::feed {

class Timeline {
 public:
  Timeline() = default;
  Timeline(const Timeline &) = delete;
  Timeline &operator=(const Timeline &) = delete;
  virtual ~Timeline() = default;

  // Numbers from first() to before end(); a number stays that of its sample.
  virtual std::uint64_t first() const = 0;
  virtual std::uint64_t end() const = 0;
  virtual WallTime time(std::uint64_t number) const = 0;
  virtual Result<SnapshotPtr> at(std::uint64_t number) = 0;
  // The last at or before the time, else the first.
  virtual std::uint64_t find(WallTime time) = 0;

  bool empty() const { return first() == end(); }
};

// What is seen while it goes on.
class LiveTimeline final : public Timeline {
 public:
  LiveTimeline();

  void add(SnapshotPtr snapshot);

  std::uint64_t first() const override { return journal_ ? journal_->first() : newest_number(); }
  std::uint64_t end() const override { return count_; }
  WallTime time(std::uint64_t number) const override;
  Result<SnapshotPtr> at(std::uint64_t number) override;
  std::uint64_t find(WallTime time) override;

 private:
  std::uint64_t newest_number() const { return count_ == 0 ? 0 : count_ - 1; }

  std::optional<record::Journal> journal_;  // none: it cannot be kept, only the newest is there
  SnapshotPtr newest_;
  std::uint64_t count_ = 0;
};

class ReplayTimeline final : public Timeline {
 public:
  explicit ReplayTimeline(record::Replay &replay) : replay_(replay) {}

  std::uint64_t first() const override { return 0; }
  std::uint64_t end() const override { return replay_.size(); }
  WallTime time(std::uint64_t number) const override { return replay_.time(static_cast<std::size_t>(number)); }
  Result<SnapshotPtr> at(std::uint64_t number) override { return replay_.at(static_cast<std::size_t>(number)); }
  std::uint64_t find(WallTime time) override { return replay_.find(time); }

 private:
  record::Replay &replay_;
};

}  // namespace gpulse::feed
