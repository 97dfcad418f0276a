// SPDX-License-Identifier: Apache-2.0
// The two times everything here is measured in.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <stop_token>
#include <string>

namespace gpulse {

using Monotonic = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;
using Seconds = std::chrono::duration<double>;

inline Monotonic monotonic_now() { return std::chrono::steady_clock::now(); }
inline WallTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

// For system calls that take a time of CLOCK_MONOTONIC.
inline timespec timespec_of(Monotonic time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  return {.tv_sec = seconds.count(), .tv_nsec = (time.time_since_epoch() - seconds).count()};
}

// When it is the next turn of something that was due at `due` and is done at `now`. Missed turns are not made up for.
inline Monotonic next_turn(Monotonic due, std::chrono::nanoseconds interval, Monotonic now) {
  return due + interval >= now ? due + interval : now + interval;
}

// For one that sleeps again and again: whom to wake is told only once.
class Sleeper {
 public:
  explicit Sleeper(const std::stop_token &stop) : wake_(stop, Wake{this}) {}

  // Until the time has come. False: a stop was asked for first.
  bool sleep_until(Monotonic time);

 private:
  struct Wake {
    Sleeper *sleeper;
    void operator()() const noexcept { sleeper->wake(); }
  };
  void wake() noexcept;

  std::atomic<std::uint32_t> stopped_{0};
  std::stop_callback<Wake> wake_;
};

inline bool sleep_until(Monotonic time, const std::stop_token &stop = {}) { return Sleeper(stop).sleep_until(time); }

// 2026-11-15T02:31:18.730Z
std::string iso8601_utc(WallTime time);
// In the local time zone, with the words of the C locale; `format` is that of strftime().
std::string local_time(WallTime time, const char *format);

// "500ms", "2s", "1.5", "3m", "1h", "1d": a plain number is seconds.
bool parse_duration(std::string_view text, std::chrono::nanoseconds &out);

}  // namespace gpulse
