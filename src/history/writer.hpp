// SPDX-License-Identifier: Apache-2.0
// Keeps samples in a history, on a thread of its own behind a queue that has an end: whatever the disk does, the one
// who takes samples never waits. What cannot be kept is counted and said.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "history/store.hpp"
#include "model/snapshot.hpp"

namespace gpulse::history {

struct WriterStatus {
  std::string path;
  std::string problem;  // empty: all is well
  std::uint64_t bytes = 0, samples = 0, lost = 0, waiting = 0;
};

class Writer {
 public:
  Writer(std::string path, const Keep &keep);
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;
  // Writes what waits, unless the disk does not take it within seconds.
  ~Writer();

  // One of them a second is kept. `interval`: the time between two. Any thread.
  void add(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval);
  void set_keep(const Keep &keep);
  WriterStatus status() const;

 private:
  void run(const std::stop_token &stop);
  bool wait_for_samples(const std::stop_token &stop);
  bool open();
  void write();
  void fail(const StoreFailure &failure);
  void say(std::string problem);
  bool set_aside();

  const std::string path_;

  mutable std::mutex mutex_;  // guards up to the thread
  std::condition_variable_any filled_;
  std::deque<TimedSample> queue_;
  Keep keep_;
  Monotonic last_added_{};
  Lost lost_;  // and not noted in the file yet
  WriterStatus status_;

  // On the thread alone.
  std::unique_ptr<Store> store_;
  Monotonic next_try_{};
  std::chrono::seconds patience_{1};
  Monotonic next_look_{};
  Keep opened_with_;
  bool is_refused_ = false;

  std::jthread thread_;
};

}  // namespace gpulse::history
