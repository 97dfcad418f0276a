// SPDX-License-Identifier: Apache-2.0
// What the samples of a monitor say about the GPUs, from the moment on in which somebody first asks for it; before that
// it is nothing but a flag. The monitor's thread adds samples and judges them every few seconds; any thread asks.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "insight/watch.hpp"

namespace gpulse::monitor {

struct KnownFinding {
  std::uint64_t number = 0;  // the same while it lasts; 0: of a stretch that was judged once
  insight::Finding finding;
  std::vector<std::string> ids, uuids;  // of its devices; a UUID that is not known is empty
};

// Never changes.
struct FindingList {
  WallTime from{}, to{};    // of the samples that were judged
  std::size_t samples = 0;  // 0: too little was seen yet
  insight::FindingId verdict = insight::FindingId::unknown;
  std::vector<KnownFinding> findings{};  // the worst first
};
using FindingListPtr = std::shared_ptr<const FindingList>;

class Findings {
 public:
  // The time between samples, which may be too long for the usual window.
  explicit Findings(std::chrono::nanoseconds interval);

  // From now on samples are judged. False: they were already.
  bool begin() { return !begun_.exchange(true); }
  bool has_begun() const { return begun_.load(std::memory_order_relaxed); }

  // Those of the monitor's thread.
  void add(const SnapshotPtr &sample);
  // No more samples come: what is known is not shown any more, and goes on if they come again soon.
  void withdraw();

  // Those that last. Never null.
  FindingListPtr current() const;
  // All that the last so many seconds say, also what is well, judged now on the thread that asks.
  Result<FindingListPtr> judge(std::chrono::nanoseconds last) const;

 private:
  std::atomic<bool> begun_{false};
  insight::Watch watch_;  // of the monitor's thread alone

  mutable std::mutex mutex_;
  std::deque<SnapshotPtr> samples_;
  FindingListPtr current_ = std::make_shared<const FindingList>();
};

}  // namespace gpulse::monitor
