// SPDX-License-Identifier: Apache-2.0
#include "source/intel/meters.hpp"

#include <algorithm>

namespace gpulse::intel {

namespace {

using namespace std::chrono_literals;

// Over a shorter time the resolution of the counters (a millisecond, 61 µJ) would show.
constexpr auto kShortest = 50ms;
constexpr auto kStandsStill = 2s;
// Counters and our clock are read at slightly different moments, and the hardware's clock is a little off.
constexpr double kSlack = 1.1;
constexpr double kPercent = 100;
// More than any Intel device draws.
constexpr double kMaxWatts = 2000;
// The driver accumulates a 32-bit register that counts in steps of 2^-14 J, and notices a wrap only when it is read.
constexpr double kRegisterJoules = 262144;
constexpr double kMicro = 1e-6;

}  // namespace

Reading EnergyMeter::update(std::uint64_t microjoules, Monotonic now, double max_watts, std::uint64_t wraps_at) {
  const auto past = past_;
  if (past && now - past->at < kShortest) return last_;
  // A running device always draws power, so a counter that has not moved is only updated slowly, or does not count. The
  // last result stands for a while, and the next one is a mean over the whole time.
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
  const double limit = max_watts > 0 ? max_watts : kMaxWatts;
  const double range = wraps_at == 0 ? kRegisterJoules : static_cast<double>(wraps_at) * kMicro;
  if (limit * seconds > range) return last_;  // it may have wrapped unnoticed
  const double watts = static_cast<double>(used) * kMicro / seconds;
  // A board exceeds its limit for moments, but not by a factor of two.
  last_ = watts <= 2 * limit ? Reading(watts) : Reason::out_of_range;
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
