// SPDX-License-Identifier: Apache-2.0
// Runs one source on a thread of its own, so that nobody ever waits inside a driver.
//
//   ask() ──► look for entities, when that is due ──► identify and read each ──► idle
//                                                        │
//     a call takes longer than usual: the other entities ┤ get workers of their own, ever more of them
//     it misses its deadline: its entity is set aside, and its thread is left behind in the driver. If the call
//                             returns after all, that thread puts the entity back in service and ends.
//
// A prompt source needs no thread: the caller of ask() runs the pass.
//
// All functions may be called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "sample/schedule.hpp"
#include "source/api/source.hpp"
#include "source/host/process_table.hpp"
#include "source/sysfs/device_events.hpp"

namespace gpulse {

struct RunnerOptions {
  std::chrono::nanoseconds call_deadline = std::chrono::seconds(2);
  // Of looking for devices, without asking them for anything.
  std::chrono::nanoseconds discover_deadline = std::chrono::milliseconds(2500);
  // How long after a failure until the next discovery; doubles up to a minute.
  std::chrono::nanoseconds retry = std::chrono::seconds(5);
  // How often to check whether devices came or went.
  std::chrono::nanoseconds check = std::chrono::seconds(5);
  std::chrono::nanoseconds tick = std::chrono::seconds(1);
  // Only readers that fill one of these are called; without it, all but those of details.
  std::optional<MetricSet> only{};
  // How often what is not in focus is read.
  Tier rest = Tier::slow;
  // What is read is for every user of the machine: nothing that only some may see.
  bool for_everybody = false;
};

// What a source knows at one moment, beside the readings.
struct SourceReport {
  std::chrono::nanoseconds call_time{0};
  std::uint64_t calls = 0;
  std::uint32_t slowed = 0;
  bool absent = false;         // no hardware of its kind in this machine
  std::vector<Found> devices;  // in the order in which they are added to a snapshot
  std::vector<Event> events;   // since the last report
  SourceStatus status;
};

// What there is in a report, and what differs from the last one.
struct SourceNews {
  bool any = false;  // false: the source is at rest, and its report stands
  bool host = false;
  bool devices = false;
  bool status = false;
};

// What one reader costs on this machine.
struct CostReport {
  std::string source;
  std::string call;
  Tier tier = Tier::tick;
  bool slowed = false;
  std::chrono::nanoseconds mean{0};
  std::uint64_t calls = 0;
  std::chrono::nanoseconds total{0};
};

class Runner {
 public:
  // `events`: null to look for devices at every check, whether the kernel has sent an event or not.
  Runner(std::shared_ptr<Source> source, std::shared_ptr<host::ProcessTable> processes, const RunnerOptions &options,
         std::shared_ptr<sysfs::DeviceEvents> events = nullptr);
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;
  ~Runner();

  // Asks the source to let go of its driver, without waiting for it. True when it has. Nothing else may be asked of the
  // runner after it.
  bool try_close();
  // Requests a pass; ignored while the last one has entities left to begin with. A prompt source has finished it on
  // return.
  void ask(Pass pass);
  enum class Progress : std::uint8_t {
    done,
    under_way,  // on other threads: wait() for it
    replaced,   // somebody else had to go on meanwhile (replace()); the caller's thread is of no use any more
  };
  // Runs the pass on the thread of the caller, which saves waking another one, and may hang in the driver.
  Progress read_here(Pass pass);
  // See Sampler::fetch.
  void fetch() const;
  // Whether a call of read_here() has been in the driver for so long.
  bool is_held(std::chrono::nanoseconds time) const;
  // Goes on with what such a call was doing, on other threads.
  void replace();
  bool is_prompt() const;
  // Waits until the pass is done, `until` is reached or a stop is requested; sets aside entities whose call missed its
  // deadline. True when there is nothing more to wait for.
  bool wait(Monotonic until, const std::stop_token &stop = {});
  // Whether the driver makes progress with attaching its devices, which may take long.
  bool is_under_way() const;
  // Puts the readings since the last call into the snapshot, and brings the report up to date. An entity that was not
  // read since then does not respond. A device has no number yet; that of a process is its place in the snapshot.
  // `devices`: how many the snapshot has so far; any behind them are of another time, and are written over.
  SourceNews report(SourceReport &report, Snapshot &snapshot, std::size_t &devices);
  std::vector<CostReport> costs() const;
  // See Sampler::set_tick and Sampler::focus.
  void set_tick(std::chrono::nanoseconds tick);
  void focus(std::shared_ptr<const MetricSet> set);

 private:
  struct Core;
  // There is nothing to read or to look after, nor has there been since the last report.
  bool is_quiet() const;
  // With the lock of the core.
  bool has_nothing_to_do(Monotonic now);
  void start_workers(std::size_t count);

  std::shared_ptr<Core> core_;
  std::atomic<Monotonic> quiet_until_{Monotonic::min()};
};

}  // namespace gpulse
