// SPDX-License-Identifier: Apache-2.0
// What a source of readings is: one per kind of hardware. It finds entities (devices, or the host) and offers readers,
// each of which is one driver call or kernel file that fills some metrics. The sampler decides when to call which.
//
// Threads: discover(), changed() and changed_without_event() never run at the same time as any other function of the
// source. identify(), complete(), has_changed() and read() may run for different entities at the same time, since any
// of them may hang in a driver, but never two of them for one entity, except for complete(). So state of an entity
// needs no lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sysroot.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

// How often a reader is meant to run. The sampler moves a reader down when its calls turn out to be expensive.
enum class Tier : std::uint8_t {
  tick,    // every sample
  second,  // at most once a second
  slow,    // every kSlowPeriod
  once,    // when the entity is found
};

inline constexpr auto kSlowPeriod = std::chrono::seconds(10);

struct ReaderInfo {
  std::string_view call;  // its name in the cost report of `gpulse doctor`
  Tier tier = Tier::tick;
  // A rate or a mean since the last reading: gives numbers from the second reading on.
  bool differential = false;
  // Left out when a command wants a quick answer.
  bool extra = false;
  std::span<const MetricId> fills;
};

// Details are read only for commands that name them.
inline bool fills_only_details(const ReaderInfo &reader) {
  return !reader.fills.empty() && std::all_of(reader.fills.begin(), reader.fills.end(),
                                              [](MetricId id) { return describe(id).scope == Scope::detail; });
}

// What one process does on one device, as the driver reports it; the rest is looked up in /proc.
struct ProcessUse {
  std::uint32_t pid = 0;
  bool own_namespace = false;  // the pid is from our /proc; a driver's is from the initial pid namespace
  std::uint8_t types = 0;
  std::string name = {};  // as the driver calls it, for processes that our /proc does not show
  Row row{Scope::process, Reason::not_supported};
};

// The newest readings of one entity. Kept between samples, so that a value stands until its reader is called again.
struct Frame {
  Row row;
  std::vector<ProcessUse> processes;
  std::vector<CpuCore> cores = {};              // of the host
  std::shared_ptr<DeviceDetails> details = {};  // null unless a command asks for them
  // What this reading is for; null: all that the reader fills. The sampler sets it before each call; only a reader that
  // pays for each of its metrics need look at it.
  const MetricSet *due = nullptr;

  bool is_due(MetricId id) const { return due == nullptr || due->contains(id); }
  // The reading of a numeric metric in the row or the details; null when nobody asks for details.
  Reading *find(MetricId id);
};

inline Reading *Frame::find(MetricId id) {
  if (is_text(brief(id))) return nullptr;
  const auto scope = brief(id).scope;
  if (scope == row.scope()) return &row[id];
  return scope == Scope::detail && details != nullptr ? &details->row[id] : nullptr;
}

enum class Outcome : std::uint8_t {
  ok,           // numbers, or reasons that may change
  not_yet,      // nothing to tell before the next reading, which compares with this one
  unsupported,  // for good: not called again until the next discovery
  lost,         // the entity is gone
  asleep,       // reading it would wake it: not read again until the next discovery
  gone,         // the whole driver is gone: discover again
};

struct Found {
  Scope scope = Scope::device;
  DeviceState state = DeviceState::ok;
  std::shared_ptr<const DeviceIdentity> identity;  // null for the host
  std::uint32_t instance = 0;                      // of a part: its number within its parent, as the driver counts
  std::uint16_t code = 0;                          // the driver's code, where the state itself says too little
  // False: the driver was not asked about this entity yet, so as not to wait for it; identify() does that. The identity
  // is the one of last time, or a provisional one.
  bool identified = true;
  std::string shown_as = {};  // UUID of the provisional identity under which it may have been shown before
};

// What identify() finds out about one entity.
struct Identified {
  std::optional<Found> found;  // none: it cannot be used, or another source shows it
  std::vector<std::pair<std::size_t, Found>>
      parts{};            // instances that it is split into, with the number of each entity
  std::string problem{};  // why it cannot be used, in one line
  std::string remedy{};
};

struct Discovery {
  std::vector<Found> entities;
  std::string problem;  // why there is no device, in one line; empty when all is well
  std::string remedy;
  std::string driver{};                    // its version, when it answered
  bool mistake = false;                    // the problem is a mistake of the user's: trying again is no use
  std::uint16_t code = 0;                  // the driver's code for the problem
  bool absent = false;                     // no hardware of its kind: no problem if another source has devices
  std::vector<ExcludedDevice> excluded{};  // with SourceOptions::excluded_only
  bool incomplete = false;                 // complete() has something to say
};

// What a command needs of the sources.
struct SourceOptions {
  bool texts = true;                // serial numbers, versions, topology: each costs calls
  std::optional<MetricSet> only{};  // read nothing else
  bool instances = false;           // find the parts of split devices, also where `only` does not ask for them
  bool either_limit = false;        // of a temperature limit and the margin to it, only one: the margin if there is one
  bool fast_start = false;          // for a single sample: skip slow steps that it does not need
  bool events = true;               // listen for driver events, on threads of their own
  bool wake = false;                // read sleeping devices too
  bool excluded_only = false;       // no devices, only the list of those that the driver was told to leave out
  // How long a device must be without work before it is released, so that it can fall asleep (idle_release.hpp). Zero:
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
  // Finds all entities. Until the next call they are addressed by their index in the answer.
  virtual Discovery discover() = 0;
  // Asked until true before discover(), which then has nothing to wait for; entities are read meanwhile.
  virtual bool is_ready_to_discover() { return true; }
  // Asks the driver about an entity that discover() has not identified.
  virtual Identified identify(std::size_t /*entity*/) { return {}; }
  // Called once when all entities are identified, except for those that do not respond.
  virtual void start_listening() {}
  // What can be said of an entity only when the others are known too; null when that is nothing.
  virtual std::shared_ptr<const DeviceIdentity> complete(std::size_t /*entity*/) { return nullptr; }
  // Whether its calls never block: they only read what the kernel has in memory. Such a source needs no thread.
  virtual bool is_prompt() const { return false; }
  // Whether discover() would find something else than last time. Cheap.
  virtual bool changed() = 0;
  // The same while the kernel has sent no event of any device since the last call of either: only what changes without
  // one, as sleep does. Not asked of a source that has found nothing.
  virtual bool changed_without_event() { return changed(); }
  // The same for what concerns a single entity.
  virtual bool has_changed(std::size_t /*entity*/) { return false; }
  virtual Outcome read(std::size_t entity, std::size_t reader, Monotonic now, Frame &frame) = 0;
  // The events since the last call.
  virtual std::vector<Event> take_events() { return {}; }
};

}  // namespace gpulse
