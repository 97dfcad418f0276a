// SPDX-License-Identifier: Apache-2.0
// What GPUs were used for over days and weeks: GPU time held, active, truly used and wasted, the energy, and what was
// found wrong meanwhile. history/reader_usage and fleet/usage collect the shares, view/usage_report shows the report.
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "insight/finding.hpp"

namespace gpulse::insight {

// GPU-seconds and joules. What is not known of all of the time held has the part of it beside it that it is known of.
struct GpuTime {
  double held = 0;
  double active = 0, active_of = 0;  // a kernel ran
  double used = 0, used_of = 0;      // true activity
  double wasted = 0, wasted_of = 0;
  double estimated =
      0;  // the part of `wasted_of` in which only the utilisation was known, which hides some of the waste
  double joules = 0, joules_of = 0;
  double added_up = 0;  // the part of `joules_of` in which the energy was added up from the power

  GpuTime &operator+=(const GpuTime &other);
  GpuTime operator*(double factor) const;
};

// One GPU over a short stretch of time, in which everything is taken to be even.
struct DeviceStretch {
  double seconds = 0;                     // that were recorded of it
  std::optional<double> utilization{};    // from 0 to 1
  std::optional<double> true_activity{};  // from 0 to 1
  std::optional<double> joules{};
  bool is_added_up = false;  // the joules, from the power
};

// A process in such a stretch. Those of the same owner have one part of the GPU between them.
struct Presence {
  std::size_t owner = 0;
  double seconds = 0;
};

// How much of the stretch each of them held: owners that were there at the same time have equal parts, so that all of
// them together never hold more than there was.
std::vector<double> split_held(double seconds, std::span<const Presence> present);

// What somebody made of the time held. `all_held`: by everybody in this stretch; what the GPU did, it did for them.
GpuTime time_of_holder(const DeviceStretch &stretch, double all_held, double held);
// What is left for nobody.
GpuTime time_of_nobody(const DeviceStretch &stretch, double all_held);

// Who had which device. A part that is not known is empty.
struct Holder {
  Text host{}, uuid{}, model{};
  Text user{}, job{}, account{}, command{};
  std::uint32_t pid = 0;
  bool is_nobody = false;  // the time in which no process was seen on the device

  bool operator==(const Holder &) const = default;
};

// What one holder had of one device over all of the time.
struct UsageShare {
  Holder holder{};
  GpuTime time{};
  std::map<FindingId, double> lost{};  // GPU-seconds, by the finding that stood meanwhile
};

struct UsageFinding {
  FindingId id = FindingId::unknown;
  std::optional<double> stood{};       // GPU-seconds in which it was found; none: it cannot be told
  std::optional<double> lost{};        // GPU-seconds; none: it cannot be told
  std::optional<std::size_t> times{};  // that it stood
};

// Where the numbers come from, which decides on what can be told of findings.
enum class UsageSource : std::uint8_t { history, engine };

// What an engine's numbers lack.
struct EngineLimits {
  double stretch_seconds = 0;     // within one, what a GPU did is even
  double resolution_seconds = 0;  // of who held it
  std::size_t told_twice = 0;     // GPUs that came from two instances at the same time
  Text warning{};                 // its own words, where its answers were not complete
};

struct Usage {
  UsageSource source = UsageSource::history;
  Text place{};           // the machine, or the engine's address
  EngineLimits limits{};  // of an engine only
  WallTime from{}, to{};
  double recorded_seconds = 0;  // in which there was any sample at all
  std::vector<UsageShare> shares{};
  std::vector<UsageFinding> findings{};
};

enum class UsageBy : std::uint8_t { user, job, account, host, model };
inline constexpr std::array<std::string_view, 5> kUsageBy{"user", "job", "account", "host", "model"};
std::string_view word(UsageBy by);
std::optional<UsageBy> usage_by_named(std::string_view word);

struct UsageRow {
  std::string name{};  // empty: of no user, of no job
  GpuTime time{};
  std::size_t devices = 0;
  std::optional<FindingId> worst{};  // the finding that cost it the most
};

// A job, or the program of a user without one.
struct UsageWorst {
  Text user{}, job{}, command{}, host{};
  GpuTime time{};
  std::size_t devices = 0;
  std::optional<FindingId> worst{};
  double lost = 0;  // to that finding
};

struct UsageReport {
  UsageSource source = UsageSource::history;
  Text place{};
  EngineLimits limits{};
  WallTime from{}, to{};
  double recorded_seconds = 0;
  UsageBy by = UsageBy::user;
  std::string user{};  // the only one that it is about; empty: all
  std::size_t hosts = 0, devices = 0;
  GpuTime held{};                        // by anybody
  GpuTime nobody{};                      // its `held` is the time in which nobody did
  std::vector<UsageRow> rows{};          // the most wasted first
  std::vector<UsageWorst> worst{};       // the same, at most as many as were asked for
  std::vector<UsageFinding> findings{};  // the most expensive first
};

struct UsageRequest {
  UsageBy by = UsageBy::user;
  std::size_t top = 10;
  std::string user{};  // empty: all
};
UsageReport make_usage_report(const Usage &usage, const UsageRequest &request);

}  // namespace gpulse::insight
