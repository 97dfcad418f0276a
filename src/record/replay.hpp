// SPDX-License-Identifier: Apache-2.0
// What `--replay FILE` and `--demo` give to a command in place of a sampler: the samples of a recording, a trace or
// a log of nvidia-smi, by number, or one after the other in time with the clock. One thread.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/snapshot.hpp"
#include "record/recording_reader.hpp"

namespace gpulse::record {

// The time that playing goes by; a test has one that does not need to be waited for.
class PlayClock {
 public:
  PlayClock() = default;
  PlayClock(const PlayClock &) = delete;
  PlayClock &operator=(const PlayClock &) = delete;
  virtual ~PlayClock() = default;
  virtual Monotonic now() = 0;
  // False: asked to stop before the time came.
  virtual bool wait_until(Monotonic time, const std::stop_token &stop) = 0;
};
PlayClock &steady_play_clock();

class Replay {
 public:
  // A recording, a trace, a log of nvidia-smi or gpulse's own CSV, by what is in it. A file without any sample is an
  // error. What comes through a pipe is waited for, unless asked to stop. `columns`: the titles of CSV without any.
  static Result<Replay> open(const std::string &path, const std::stop_token &stop = {},
                             const std::string &columns = {});
  // The recording in the binary; its samples say DEMO.
  static Result<Replay> demo();

  std::size_t size() const;
  WallTime time(std::size_t index) const;
  WallTime first_time() const { return time(0); }
  WallTime last_time() const { return time(size() - 1); }
  // Damaged blocks passed by.
  std::uint64_t skipped() const;
  Result<SnapshotPtr> at(std::size_t index);
  // The last sample at or before the time, else the first.
  std::size_t find(WallTime time);

  // Playing. `speed` is how much faster than it was recorded; infinity: without waiting. False: not above 0.
  // The next sample is due at once; a pause of over a minute in the recording is played as one second.
  bool play(double speed, std::size_t from = 0, PlayClock &clock = steady_play_clock());
  // Number of the sample that wait_next() gives next; size() after the last.
  std::size_t position() const { return position_; }
  // When the next sample is due, for a loop that waits for other things too.
  Monotonic due() const { return due_; }
  // Waits until the next sample is due and gives it; none is left out when the caller is late, and then it does not
  // wait until it has caught up. Null after the last, or when asked to stop.
  Result<SnapshotPtr> wait_next(const std::stop_token &stop = {});

 private:
  using Trace = std::vector<SnapshotPtr>;
  explicit Replay(RecordingReader reader) : reader_(std::make_unique<RecordingReader>(std::move(reader))) {}
  explicit Replay(Trace trace) : trace_(std::move(trace)) {}
  std::chrono::nanoseconds pause_before(std::size_t index) const;

  std::unique_ptr<RecordingReader> reader_;  // null: it is a trace or a log
  Trace trace_;
  double speed_ = 1;
  std::size_t position_ = 0;
  Monotonic due_{};
  PlayClock *clock_ = nullptr;  // null until play()
};

}  // namespace gpulse::record
