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

// Tests are in more of a hurry.
struct WriterPace {
  std::size_t most_waiting = 300;        // samples: what waits for a slow disk
  std::chrono::milliseconds often{950};  // two samples closer to each other are one second's
  std::chrono::milliseconds first_pause{1000}, longest_pause{30'000};  // before the next try
  std::chrono::milliseconds longest_end{5000};  // half of what a service manager gives a program that is to end
};

class Writer {
 public:
  Writer(std::string path, const Keep &keep, const WriterPace &pace = {});
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

  const WriterPace pace_;
  std::shared_ptr<Work> work_;  // the thread's too, which may outlive this
  std::jthread thread_;
};

}  // namespace gpulse::history
