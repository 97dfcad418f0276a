// SPDX-License-Identifier: Apache-2.0
// Keeps samples in a history, on a thread of its own behind a queue that has an end: whatever the disk does, the one
// who takes samples never waits. What cannot be kept is counted and said.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "history/retention.hpp"
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
  // Writes what waits, unless the disk does not take it within seconds: then the thread is left behind in the kernel.
  ~Writer();

  // One of them a second is kept. `interval`: the time between two. Any thread.
  void add(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval);
  void set_keep(const Keep &keep);
  WriterStatus status() const;

 private:
  class Work;

  std::shared_ptr<Work> work_;  // the thread's too, which may outlive this
  std::jthread thread_;
};

}  // namespace gpulse::history
