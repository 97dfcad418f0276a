// SPDX-License-Identifier: Apache-2.0
// Puts what is found in samples among their events. Samples are judged on a thread of their own, because that takes a
// while on a machine with many GPUs: what has begun is told in one of the samples after it. For the agent and
// `gpulse record`, on the thread that takes the samples.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "insight/finding_events.hpp"

namespace gpulse::serve {

class FindingThread {
 public:
  // Called on the thread after each judgement.
  using Judged = std::function<void(const insight::Watch &)>;
  explicit FindingThread(Judged judged = {}, insight::WatchOptions options = {});
  FindingThread(const FindingThread &) = delete;
  FindingThread &operator=(const FindingThread &) = delete;
  ~FindingThread() = default;

  // The sample with what has been found so far; the very same where that is nothing. Does not wait for a judgement.
  SnapshotPtr add(const SnapshotPtr &sample);

 private:
  void work(const std::stop_token &stop);

  const Judged judged_;
  WallTime last_{};  // of the last sample that is judged
  insight::AddedEvents added_;
  insight::FindingEvents findings_;  // of the thread alone
  std::mutex mutex_;                 // guards these
  std::condition_variable_any changed_;
  std::deque<SnapshotPtr> waiting_;
  std::vector<Event> told_;
  std::jthread thread_;  // the last to be made and the first to end: it uses the rest
};

}  // namespace gpulse::serve
