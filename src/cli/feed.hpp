// SPDX-License-Identifier: Apache-2.0
// Where a command gets its snapshots from: this machine, a recording, or the demo.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "record/replay_feed.hpp"
#include "sample/sampler.hpp"

namespace gpulse::cli {

class Feed {
 public:
  // It stays open until the program ends: the kernel takes a driver's session down in half the time that the driver
  // takes when it is asked to.
  static Result<Feed *> open(const Options &options);

  bool live() const { return sampler_ != nullptr; }
  // The recording, where it is one.
  record::ReplayFeed *replay() { return replay_ ? &*replay_ : nullptr; }

  // One snapshot, with the rates in it unless the options say fast.
  Result<SnapshotPtr> once();
  // Another one, now.
  Result<SnapshotPtr> again();
  // The next one at the interval (or as recorded); null at the end or when asked to stop.
  Result<SnapshotPtr> next();
  // Live only: hands over the first, and then each as it comes, on a thread of its own. Returns after the first.
  void stream(const std::function<void(Result<SnapshotPtr>)> &taker);

  // As Sampler::focus; nothing of a recording.
  void focus(const MetricSet &set) {
    if (sampler_ != nullptr) sampler_->focus(set);
  }

  std::vector<CostReport> costs() const { return sampler_ != nullptr ? sampler_->costs() : std::vector<CostReport>{}; }

 private:
  explicit Feed(const Options &options) : options_(options) {}
  Result<SnapshotPtr> once_live();

  Options options_;
  std::unique_ptr<Sampler> sampler_;
  std::optional<record::ReplayFeed> replay_;
  bool started_ = false;
  SnapshotPtr last_;
};

}  // namespace gpulse::cli
