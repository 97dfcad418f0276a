// SPDX-License-Identifier: Apache-2.0
#include "source/intel/meters.hpp"

#include <algorithm>

namespace gpulse::intel {

namespace {

using namespace std::chrono_literals;

// Over a shorter time the steps of the counters (a millisecond, 61 µJ) would show.
constexpr auto kShortest = 50ms;
constexpr auto kStandsStill = 2s;
// Two counters of time are never read at quite the same moment, and the hardware's runs a little off.
constexpr double kSlack = 1.1;
constexpr double kPercent = 100;
// No device of theirs may draw as much.
constexpr double kMostWatts = 2000;
// Behind the driver's count stands a register of 32 bits in steps of 2^-14 J, and the driver notes that it went round
// only when somebody reads it.
constexpr double kRegisterJoules = 262144;
constexpr double kMicro = 1e-6;

}  // namespace

Reading EnergyMeter::update(std::uint64_t microjoules, Monotonic now, double most_watts, std::uint64_t wraps_at) {
  const auto past = past_;
  if (past && now - past->at < kShortest) return last_;
  // What is on draws something. A counter that stands still is only slow, or does not count: the last power holds for a
  // while, and what it counts next is over all of the time.
  if (past && wraps_at == 0 && microjoules == past->count) {
    if (now - past->at > kStandsStill) last_ = Reason::not_sampled;
    return last_;
  }
  past_ = Mark{microjoules, now};
  last_ = Reason::not_sampled;
  if (!past) return last_;
  auto used = microjoules - past->count;
  if (microjoules < past->count) {
    if (wraps_at == 0 || past->count > wraps_at) return last_;
    used = wraps_at - past->count + microjoules;
  }
  const double seconds = Seconds(now - past->at).count();
  const double most = most_watts > 0 ? most_watts : kMostWatts;
  const double context = wraps_at == 0 ? kRegisterJoules : static_cast<double>(wraps_at) * kMicro;
  if (most * seconds > context) return last_;  // it may have gone round unseen
  const double watts = static_cast<double>(used) * kMicro / seconds;
  // For a moment a board draws more than its limits say, but not twice as much.
  last_ = watts <= 2 * most ? Reading(watts) : Reason::out_of_range;
  return last_;
}

Reading ShareMeter::update(std::uint64_t count, std::chrono::nanoseconds unit, Monotonic now) {
  const auto past = past_;
  if (past && now - past->at < kShortest) return last_;
  past_ = Mark{count, now};
  last_ = Reason::not_sampled;
  if (!past || count < past->count) return last_;
  const auto counted = static_cast<double>(count - past->count) * static_cast<double>(unit.count());
  const auto share = counted / static_cast<double>(std::chrono::nanoseconds(now - past->at).count());
  last_ = share <= kSlack ? Reading(std::min(share, 1.0) * kPercent) : Reason::out_of_range;
  return last_;
}

}  // namespace gpulse::intel
