// SPDX-License-Identifier: Apache-2.0
// What happens between two looks at the agent, for those who look rarely: counters that add up every sample, and the
// highest values of the last minute, which everybody who asks reads alike. Which metrics have them is said by the
// columns `total` and `peak` of the table. Everything is by UUID, starts at 0 with the agent, and has an end. The
// agent's thread adds; any thread asks.
//
// A stretch of time adds something only if the device answered at both of its ends: a device that was lost, a sleeping
// machine or a stopped agent leave a gap, not a guess.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/watch.hpp"
#include "model/snapshot.hpp"

namespace gpulse::insight {

// What has a total and what a peak, in the order of the table.
std::span<const MetricId> totalled();
std::span<const MetricId> peaked();

// A snapshot that is older than so many of its intervals does not tell what is now.
inline constexpr int kFreshIntervals = 3;
inline constexpr auto kLeastFresh = std::chrono::seconds(3);

inline constexpr std::int64_t kOtherXid = -1;  // all codes beyond the first many of a device

struct XidCount {
  std::int64_t code = 0;
  std::uint64_t count = 0;
  WallTime last{};
};

struct DeviceTally {
  Text uuid;  // empty: the machine, in whose findings no device is named
  Text vendor{};
  std::optional<DeviceId> id{};  // none: it was never in a sample
  bool answers = false;          // in the last sample
  // As totalled(), in the unit of total_of(); of a set the seconds of each of its bits are in `bits`.
  std::vector<Reading> totals{};
  std::vector<std::vector<double>> bits{};
  std::vector<Reading> peaks{};  // as peaked(), in the metric's unit
  std::vector<XidCount> xids{};
  std::array<Reading, kFindingIds> lost_seconds{};  // of GPU time, by finding; no value: there was none
};

struct StandingFinding {
  FindingId id = FindingId::unknown;
  Weight weight = Weight::ok;
  Text uuid;  // empty where it is about no device

  bool operator==(const StandingFinding &) const = default;
};

// When samples come.
struct SamplePace {
  std::uint64_t samples = 0;
  Monotonic last{};                      // when the last one came
  std::chrono::nanoseconds interval{0};  // at which they come now
};
// Whether the last sample still tells what is.
bool is_fresh(const SamplePace &pace, Monotonic now);

struct TallyReport {
  SamplePace pace;
  double late_seconds = 0;                // all that samples came later than the interval after the one before
  double late_peak_seconds = 0;           // the latest of the last minute
  std::vector<DeviceTally> devices;       // by UUID
  std::vector<StandingFinding> findings;  // each once
};

class Tally {
 public:
  // `at`: when it came; `interval`: the time between two.
  void add(const Snapshot &sample, std::chrono::nanoseconds interval, Monotonic at = monotonic_now());
  // What lasts from now on.
  void set_findings(std::span<const LastingFinding> findings);

  TallyReport report() const;
  SamplePace pace() const;

 private:
  // The highest value of each stretch of five seconds, of the last minute and the one that goes on.
  class Peak {
   public:
    void add(double value, std::int64_t stretch);
    std::optional<double> value(std::int64_t stretch) const;

   private:
    static constexpr std::int64_t kStretches = 13;
    static constexpr std::int64_t kNever = -1000;
    struct Highest {
      std::int64_t stretch = kNever;
      double value = 0;
    };
    std::array<Highest, kStretches> highest_{};
  };
  struct Counted {
    DeviceTally tally;
    std::vector<Peak> peaks;
    std::uint64_t seen = 0;  // number of the last sample that it was in
    bool has_counter = false;
  };
  struct Lasting {
    FindingId id;
    Weight weight;
    double lost_share;
    bool costs;
    std::vector<DeviceId> devices;
  };

  Counted &counted(const Text &uuid);
  void add_device(const Device &device, Seconds passed, std::int64_t stretch);
  void add_totals(const Device &device, Counted &one, double seconds);
  void add_findings(const Snapshot &sample, double seconds);
  void add_events(const Snapshot &sample);
  void forget();

  mutable std::mutex mutex_;  // guards everything below; never held for longer than a copy takes
  std::map<std::string, Counted, std::less<>> devices_;
  std::vector<Lasting> lasting_;
  std::vector<StandingFinding> standing_;
  SharedVector<Event> events_;  // of the last sample
  SamplePace pace_;
  double late_seconds_ = 0;
  Peak late_;
};

}  // namespace gpulse::insight
