// SPDX-License-Identifier: Apache-2.0
// What a source of readings is: one per kind of hardware. It finds entities (devices, or the host) and offers readers,
// each one call to a driver or kernel file that fills some metrics. When to call which is the sampler's business.
//
// Threads: discover() and changed() never run at the same time as anything else of the source. read() may run for
// different entities at the same time, never twice for one: state that belongs to an entity needs no lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sysroot.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

// How often a reader is meant to run; what a call turns out to cost may move it down.
enum class Tier : std::uint8_t {
  tick,    // every sample
  second,  // at most once a second
  slow,    // every kSlowPeriod
  once,    // when the entity is found
};

inline constexpr auto kSlowPeriod = std::chrono::seconds(10);

struct ReaderInfo {
  std::string_view call;  // what it calls: for the self-report and for `gpulse doctor`
  Tier tier = Tier::tick;
  // Gives numbers only from the second time on: a rate, or a value between two samples.
  bool differential = false;
  // Left out of a quick look.
  bool extra = false;
  std::span<const MetricId> fills;
};

// Details are read only for commands that name them.
inline bool fills_only_details(const ReaderInfo &reader) {
  return !reader.fills.empty() && std::all_of(reader.fills.begin(), reader.fills.end(),
                                              [](MetricId id) { return describe(id).scope == Scope::detail; });
}

// What one process does on one device, as the driver tells it; the rest is looked up in /proc.
struct ProcessUse {
  std::uint32_t pid = 0;
  bool own_namespace = false;  // the pid is from our /proc; a driver's is of the machine's first pid namespace
  std::uint8_t types = 0;
  std::string name = {};  // the driver's name for it, for one that our /proc does not show
  Row row{Scope::process, Reason::not_supported};
};

// The newest readings of one entity; kept between samples, so that a slow reader's last value stands until the next.
struct Frame {
  Row row;
  std::vector<ProcessUse> processes;
  std::vector<CpuCore> cores = {};              // of the host
  std::shared_ptr<DeviceDetails> details = {};  // null unless a command asks for them
  // What this reading is for; null: all that the reader fills. The sampler sets it before each call; only a reader that
  // pays for each of its metrics need look at it.
  const MetricSet *due = nullptr;

  bool is_due(MetricId id) const { return due == nullptr || due->contains(id); }
  // The reading of a number of the entity or its details; null: nobody asks for details.
  Reading *find(MetricId id);
};

inline Reading *Frame::find(MetricId id) {
  if (is_text(describe(id))) return nullptr;
  const auto scope = describe(id).scope;
  if (scope == row.scope()) return &row[id];
  return scope == Scope::detail && details != nullptr ? &details->row[id] : nullptr;
}

enum class Outcome : std::uint8_t {
  ok,           // numbers, or reasons that may change
  not_yet,      // nothing to tell before the next reading, which compares with this one
  unsupported,  // will not change until the entity is found anew: do not ask again
  lost,         // the entity is gone
  asleep,       // reading it would wake it: it is left alone until it is found anew
  gone,         // the whole driver is gone: find everything anew
};

struct Found {
  Scope scope = Scope::device;
  DeviceState state = DeviceState::ok;
  std::shared_ptr<const DeviceIdentity> identity;  // null for the host
  std::uint16_t code = 0;                          // the driver's own, where it gives no better reason for the state
};

struct Discovery {
  std::vector<Found> entities;
  std::string problem;  // why there is nothing, in one line; empty when all is well
  std::string remedy;
  std::string driver{};    // version, where it answered
  bool mistake = false;    // the user's: no later look will find it mended
  std::uint16_t code = 0;  // the driver's own for the problem
  bool absent = false;     // nothing of its kind is in this machine: no trouble where there is something else
  std::vector<ExcludedDevice> excluded{};
};

// What a command needs of the sources.
struct SourceOptions {
  bool texts = true;                // serial numbers, versions, topology: nice to know, but calls
  std::optional<MetricSet> only{};  // nothing but these
  bool fast_start = false;          // one quick look: what takes time and is not needed for it may be left out
  bool events = true;               // listen for what happens, on threads of their own
  bool wake = false;                // read also what sleeps
  bool excluded_only = false;       // no devices, only the list of those that the driver was told to leave out
  // A session with a driver keeps a device awake that could sleep: after so long without work it is given up. Zero:
  // never.
  std::chrono::nanoseconds idle_release_after{0};

  bool wants_text(MetricId id) const { return only ? only->contains(id) : texts; }
};

class Source {
 public:
  Source() = default;
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;
  virtual ~Source() = default;

  virtual std::string_view name() const = 0;
  virtual std::span<const ReaderInfo> readers() const = 0;
  // Finds everything anew; entities are addressed by their place in the answer until the next call.
  virtual Discovery discover() = 0;
  // Whether its calls never wait, because the kernel has in memory what they read.
  virtual bool is_prompt() const { return false; }
  // Cheap: whether discover() would find something else than last time.
  virtual bool changed() = 0;
  virtual Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) = 0;
  // What happened since the last call.
  virtual std::vector<Event> take_events() { return {}; }
};

}  // namespace gpulse
