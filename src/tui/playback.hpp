// SPDX-License-Identifier: Apache-2.0
// Where the live view is in time: at the newest sample, somewhere in the past, or playing a recording. It decides which
// sample is shown; showing it is left to its owner. UI thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "feed/timeline.hpp"

namespace gpulse::tui {

struct PlaybackOptions {
  bool replay = false;  // the timeline is a recording, to be played at its own pace
  double speed = 1;
  std::uint64_t start = 0;  // first sample of a recording to show
  bool paused = false;      // it stays there until it is told to play
};

class Playback {
 public:
  // Shows the sample with this number; number() is still that of the one before. False: it cannot be read.
  using Show = std::function<bool(std::uint64_t number)>;

  Playback(feed::Timeline &timeline, const PlaybackOptions &options, Show show);

  feed::Timeline &timeline() const { return timeline_; }
  std::uint64_t number() const { return number_; }  // of the sample on the screen
  bool replay() const { return options_.replay; }
  // Follows the newest sample, or plays on through the recording.
  bool playing() const { return playing_; }
  // Whether the live view shows an older sample than the newest.
  bool in_the_past() const;

  // The timeline has grown.
  void sample_came();
  // Plays a recording up to this moment.
  void tick(Monotonic now);
  // When tick() has something to do next.
  std::optional<Monotonic> due() const;

  void toggle_pause(Monotonic now);
  // These pause. What lies before the timeline's first sample is shown once it has reached back.
  void step(std::int64_t samples);
  void jump(std::chrono::seconds by);
  // "14:03:20", "yesterday 18:00", "-5m", "90s" from the start, "start", "end", "now"; false: it is none of these.
  bool go_to(std::string_view text);
  // To the newest sample, or the end of the recording.
  void go_to_end();

  // Somebody wants to see what the timeline must reach back for, which can take a moment.
  bool is_reaching_back() const { return wish_ != nullptr; }
  Result<void> reach_back();

 private:
  void show(std::uint64_t number);
  void set_playing(bool playing, Monotonic now);
  // True: `wish` is to be called again when the timeline has reached back.
  bool put_off(std::function<void()> wish);
  std::optional<WallTime> time_meant(std::string_view words) const;

  feed::Timeline &timeline_;
  PlaybackOptions options_;
  Show show_;
  std::uint64_t number_;
  bool started_ = false;  // a sample has been shown
  bool playing_ = true;
  Monotonic due_{};
  std::function<void()> wish_;  // what waits for the timeline to reach back
};

}  // namespace gpulse::tui
