// SPDX-License-Identifier: Apache-2.0
// The tables of a history, made from the metric table: a new metric gets its columns when the file is opened next.
//
//   raw, raw_tail      samples as they came: packed in chunks, and one row each of what is not packed yet
//   raw_schema         the metric keys that they were made with
//   device_10s, …_1min one row per device and stretch of time
//   host_10s, …_1min   the same of the machine
//   process_1min       the same of every process on a GPU
//   device, process    who they are, and when they were there
//   event, change      what happened; values of what hardly changes, when they changed
//   lost               samples that could not be kept, and why
//   metric             what the columns mean
//   info               whose history it is
//
// Times are seconds since 1970 in UTC; those of raw samples nanoseconds.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>

#include "base/result.hpp"
#include "history/database.hpp"
#include "metric/metric.hpp"
#include "metric/table.hpp"

namespace gpulse::history {

inline constexpr std::int64_t kVersion = 1;
inline constexpr std::int64_t kApplication = 0x67705331;  // "gpS1", by which file(1) and we know the file

enum class Tier : std::uint8_t { raw, ten_seconds, minute };
constexpr std::chrono::seconds step(Tier tier) {
  using namespace std::chrono_literals;
  return tier == Tier::minute ? 60s : tier == Tier::ten_seconds ? 10s : 1s;
}
std::string_view word(Tier tier);  // "1 s", "10 s", "1 min"

// A metric of which every stretch of time has a value.
struct KeptMetric {
  MetricId id;
  Fold fold;
  bool has_range;  // the least and the greatest are kept too
};
// Of a device, a process or the host, in the order of the table.
std::span<const KeptMetric> kept_metrics(Scope scope);
// The place in kept_metrics(), where it is there.
std::optional<std::size_t> kept_place(MetricId id);

// What a table of this file has; an earlier version knew fewer metrics.
Result<std::set<std::string, std::less<>>> column_names(Database &database, std::string_view table);

// "device_10s"
std::string table_name(Scope scope, Tier tier);
// Columns of a kept metric: "power_draw_watts", "power_draw_watts_min", "power_draw_watts_max".
std::string least_column(MetricId id);
std::string greatest_column(MetricId id);

// One step from a version of the tables to the next. It is called until it says that it is done, each time within a
// transaction, so that one that was interrupted goes on where it was.
struct Migration {
  std::int64_t from;
  Result<bool> (*step)(Database &database);
};
std::span<const Migration> migrations();

// What a file is.
enum class Standing : std::uint8_t { ours, empty, newer, foreign };
Result<Standing> standing(Database &database);

// Makes the tables, or brings those of an earlier version up to date.
Result<void> prepare(Database &database, std::span<const Migration> steps = migrations());

}  // namespace gpulse::history
