// SPDX-License-Identifier: Apache-2.0
#include "sample/schedule.hpp"

#include <algorithm>

namespace gpulse {

namespace {

using namespace std::chrono_literals;

// The largest share of the time that one reader's calls may take, for one entity and for all of them together.
constexpr double kMaxShare = 0.02;
constexpr double kMaxShareOfAll = 0.1;
// A reader that takes less than this share for all entities is called whether its metrics are shown or not.
constexpr double kNearlyFree = 1e-4;
// A single slow call fades from the mean within about ten calls.
constexpr double kWeightOfNewest = 0.1;
// Timers jitter: a reader is due when this part of its period has passed.
constexpr double kDueAt = 0.95;

}  // namespace

std::chrono::nanoseconds period(Tier tier) {
  switch (tier) {
    case Tier::tick:
      return 0s;
    case Tier::second:
      return 1s;
    case Tier::slow:
      return kSlowPeriod;
    case Tier::once:
      break;
  }
  return std::chrono::nanoseconds::max();
}

[[gnu::hot]] void ReaderCost::add(std::chrono::nanoseconds cost) {
  const auto ns = static_cast<double>(cost.count());
  mean_ns_ = calls_ == 0 ? ns : mean_ns_ + kWeightOfNewest * (ns - mean_ns_);
  ++calls_;
  total_ += cost;
}

[[gnu::hot]] void ReaderCost::update_tier(std::chrono::nanoseconds tick, std::size_t entities) {
  // The first calls of a session cost more, because they set things up inside the driver.
  constexpr std::uint64_t kWarm = 4;
  if (calls_ < kWarm || info_.tier >= Tier::slow) return;
  auto tier = info_.tier;
  const auto affordable = [&](Tier t) {
    const auto every = std::max(tick, period(t));
    const auto time = static_cast<double>(every.count());
    return mean_ns_ <= kMaxShare * time && mean_ns_ * static_cast<double>(entities) <= kMaxShareOfAll * time;
  };
  while (tier < Tier::slow && !affordable(tier)) tier = static_cast<Tier>(static_cast<int>(tier) + 1);
  tier_ = tier;
  const auto every = static_cast<double>(std::max(tick, period(tier)).count());
  deferred_ = !in_focus_ && mean_ns_ * static_cast<double>(entities) > kNearlyFree * every;
}

[[gnu::hot]] bool ReaderTurn::due(const ReaderInfo &info, Tier tier, Pass pass, Monotonic now) const {
  if (refused) return false;
  switch (pass) {
    case Pass::everything:
      return true;
    case Pass::rates:
      return info.tier == Tier::tick || info.differential;
    case Pass::rest:
      return !read_once;
    case Pass::fast:
      return info.tier == Tier::tick && !info.extra;
    case Pass::scheduled:
      break;
  }
  if (!read_once) return true;
  if (tier == Tier::once) return false;
  return static_cast<double>((now - last).count()) >= kDueAt * static_cast<double>(period(tier).count());
}

}  // namespace gpulse
