// SPDX-License-Identifier: Apache-2.0
// What a metric is: one row of the table says everything about it but how it is read.
// JSON keys, CSV fields, columns, Prometheus families, `gpulse explain` and the reference page are all derived from it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpulse {

// Recordings count on the order: a new one goes to the end.
enum class Scope : std::uint8_t { device, process, host, self, core, detail };
inline constexpr std::size_t kScopes = 6;

enum class Kind : std::uint8_t {
  gauge,    // a quantity that goes up and down
  counter,  // a quantity that only grows, until a reset
  state,    // one of `words`, or the number itself where there is no word for it
  set,      // any of `words`: bit i set means words[i]
  text,     // words of the driver's own
};

enum class Unit : std::uint8_t {
  none,
  percent,
  bytes,
  bytes_per_second,
  watts,
  joules,
  celsius,
  mhz,
  seconds,
  rpm,
  bits,
  volts,
  per_second,
};

// Which stretch of time a value speaks of.
enum class Window : std::uint8_t {
  instant,         // the moment of reading
  driver_average,  // the driver's own window of up to a second
  since_last,      // between this sample and the one before
  since_boot,      // counted since the driver was loaded, or longer
  fixed,           // does not change while the device is there
};

enum class Group : std::uint8_t {
  activity,
  engines,
  memory,
  power,
  temperature,
  clocks,
  limits,
  links,
  health,
  modes,
  identity,
  host,
  process,
  self,
};

// Where a view has a place of its own for something, it asks for the role, not for the metric's name.
enum class Role : std::uint8_t {
  none,
  utilization,
  true_activity,
  memory_used,
  memory_total,
  memory_bandwidth,
  temperature,
  power,
  power_limit,
  fan,
  clock,
  throttle,
  cpu,
  cpu_count,
  load,
  host_memory,
  host_memory_total,
  swap,
  swap_total,
  disk_read,
  disk_write,
  network_in,
  network_out,
  age,
  alarm,
  user,
  name,
  command,
  container,
  pod,
  job,
  account,
  encoder,
  decoder,
  process_count,
  parent,
  parent_name,
  idle,
  memory_share,
  memory_controller,
};
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::memory_controller) + 1;

// How values of a stretch of time become one.
enum class Fold : std::uint8_t {
  by_kind,  // see fold()
  mean,
  maximum,
  last,
  counter,  // what it grew by, resets left out
  any,      // the bits of all
};

// What history keeps of it beyond the samples themselves.
enum class Kept : std::uint8_t {
  by_kind,  // see kept()
  raw,      // nothing
  changes,  // each change
  fold,     // one value for every stretch of time, as it folds
  range,    // and the least and the greatest of it
};

inline constexpr double kNoThreshold = std::numeric_limits<double>::infinity();

struct Metric {
  std::string_view key;
  Scope scope = Scope::device;
  Kind kind = Kind::gauge;
  Unit unit = Unit::none;
  int precision = 0;  // digits after the point where a person reads it
  Window window = Window::instant;
  Fold fold = Fold::by_kind;
  Kept kept = Kept::by_kind;
  Group group = Group::activity;
  std::string_view label;     // short, for a column
  std::string_view help;      // one line
  std::string_view meaning;   // plain words: what it tells, and what it does not
  std::string_view smi = {};  // nvidia-smi's field name, where it has one
  Role role = Role::none;
  double warn = kNoThreshold;  // from here on it deserves a look
  double bad = kNoThreshold;   // from here on something is wrong
  std::span<const std::string_view> words = {};
  std::uint8_t rank = 0;    // place among the further readings a view shows as it has room, 1 first; 0: it waits
  std::uint64_t calm = 0;   // bits of a set that are no fault
  std::uint64_t grave = 0;  // bits of a set that are a bad one; the rest deserves a look
  // What the agent keeps of it for those who look rarely: keys of their own, empty where it keeps nothing.
  std::string_view total = {};  // what it adds up to over time; a key of the table: that one's stand-in
  std::string_view peak = {};   // its highest of the last minute
  bool compared = false;        // devices of one kind are compared by it, across machines
};

// What of a row is known at compile time wherever a metric is named (metric/keys.hpp).
struct MetricKey {
  std::string_view key;
  Scope scope;
  Kind kind;
  Unit unit;
  Role role;
  std::int8_t precision;
  std::string_view smi;
};

std::string_view word(Scope scope);
std::string_view word(Kind kind);
std::string_view word(Unit unit);  // "percent", "bytes", …
std::string_view word(Window window);
std::string_view word(Fold fold);
std::string_view word(Kept kept);
std::string_view word(Group group);
std::string_view word(Role role);    // "utilization", "memory used", …; empty for none
std::string_view symbol(Unit unit);  // "%", "W", "°C", …

// How the metric folds: as its row says, else gauges to their mean, counters to their growth, sets to all their bits,
// and what is a state, a text or fixed to the last.
Fold fold(const Metric &metric);

// What is kept of it: as its row says; else of a device the changes of what hardly changes (a state, a limit, a count
// of faults), and nothing of the rest.
Kept kept(const Metric &metric);

// The rows of what the agent keeps of a metric, as if they stood in the table; their help is that of the metric. What
// it adds up to is a counter in the unit times a second: shares and sets in seconds, watts in joules.
Metric total_of(const Metric &metric);
Metric peak_of(const Metric &metric);

// Whether a database of many machines gets it unless told otherwise: what views have a place for and the history keeps,
// what has a threshold or is compared, and words, which cost no series. Its total goes with it.
bool is_usual(const Metric &metric);
// The same of its highest.
bool is_usual_peak(const Metric &metric);

// The metric's Prometheus family: base units, `_ratio` for percentages, `_total` for counters, a plural for `_count`.
std::string prometheus_name(const Metric &metric);
// What a value must be multiplied by to be in the family's unit.
double prometheus_scale(const Metric &metric);

}  // namespace gpulse
