// SPDX-License-Identifier: Apache-2.0
// The samples that the live view can show, by number: what it has seen since it began, with what was kept before that,
// or a recording. UI thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "insight/finding.hpp"
#include "model/snapshot.hpp"
#include "record/journal.hpp"
#include "record/replay.hpp"

namespace gpulse::feed {

// Whether a recording holds the moment that --at names, counted from its start; else an error that says how long it is.
Result<void> check_place(std::optional<std::chrono::nanoseconds> at, WallTime first, WallTime last);

// What others found to be wrong at a sample.
struct ToldFindings {
  bool is_known = false;  // false: nobody looks
  std::vector<insight::Finding> all{};
  WallTime begin{};  // a finding that is known since then may be older

  bool operator==(const ToldFindings &) const = default;
};

// Whether somebody who wants to see a sample of another machine goes on waiting for it. Asked again and again, on the
// thread that wants it.
struct Patience {
  std::function<bool(std::chrono::nanoseconds so_far)> goes_on{};  // empty: until there is an answer
};

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
  // None: who shows the sample judges it.
  virtual std::optional<ToldFindings> told(std::uint64_t /*number*/) { return std::nullopt; }
  // The last at or before the time, else the first.
  virtual std::uint64_t find(WallTime time) = 0;

  // Whether there may be more before first(), which reach_back() looks for. That can take a moment.
  virtual bool can_reach_back() const { return false; }
  virtual Result<void> reach_back() { return {}; }

  bool empty() const { return first() == end(); }
};

// What is seen while it goes on.
class LiveTimeline final : public Timeline {
 public:
  LiveTimeline();

  void add(SnapshotPtr snapshot, std::optional<ToldFindings> told = {});

  std::uint64_t first() const override { return journal_ ? journal_->first() : newest_number(); }
  std::uint64_t end() const override { return count_; }
  WallTime time(std::uint64_t number) const override;
  Result<SnapshotPtr> at(std::uint64_t number) override;
  std::optional<ToldFindings> told(std::uint64_t number) override;
  std::uint64_t find(WallTime time) override;

 private:
  std::uint64_t newest_number() const { return count_ == 0 ? 0 : count_ - 1; }

  std::optional<record::Journal> journal_;  // none: it cannot be kept, only the newest is there
  SnapshotPtr newest_;
  std::uint64_t count_ = 0;
  std::map<std::uint64_t, std::optional<ToldFindings>> told_;  // from this sample on, until the next one here
};

// What is seen live, and before it what others have kept, which is opened when somebody wants to look there.
class JoinedTimeline final : public Timeline {
 public:
  // Gives the samples before this time; null: there are none. After an error it is asked again.
  using OpenPast = std::function<Result<std::unique_ptr<Timeline>>(WallTime before)>;
  JoinedTimeline(LiveTimeline &live, OpenPast open_past) : live_(live), open_past_(std::move(open_past)) {}

  std::uint64_t first() const override { return kFirstLive + live_.first() - past_size(); }
  std::uint64_t end() const override { return kFirstLive + live_.end(); }
  WallTime time(std::uint64_t number) const override;
  Result<SnapshotPtr> at(std::uint64_t number) override;
  std::optional<ToldFindings> told(std::uint64_t number) override;
  std::uint64_t find(WallTime time) override;
  bool can_reach_back() const override;
  Result<void> reach_back() override;

 private:
  // Leaves enough numbers for all that may have been before.
  static constexpr std::uint64_t kFirstLive = std::uint64_t{1} << 40U;

  bool is_joined() const { return past_ != nullptr && seam_ == live_.first(); }
  std::uint64_t past_size() const { return is_joined() ? past_->end() - past_->first() : 0; }
  bool is_live(std::uint64_t number) const { return number >= kFirstLive + live_.first(); }
  std::uint64_t past_number(std::uint64_t number) const { return past_->first() + (number - first()); }

  LiveTimeline &live_;
  OpenPast open_past_;
  std::unique_ptr<Timeline> past_;
  // The live sample that follows the past. When it is dropped, the past is let go of, and can be joined again.
  std::uint64_t seam_ = 0;
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
