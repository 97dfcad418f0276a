// SPDX-License-Identifier: Apache-2.0
// Samples in the background, for a program that has something else to do. One thread drives a feed (the agent's, or the
// drivers') and publishes; everybody else looks at what it has published, from any thread, and never waits for it
// unless they ask to.
//
// A fork takes no thread along. While one goes on, no sample is being taken, so that the child does not inherit a
// driver's locks in the middle of a call; in the child, `is_forked()` says that the monitor is the parent's. Nothing
// else of it may be used there, and it is never destroyed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "feed/feed.hpp"
#include "monitor/attached_sinks.hpp"
#include "monitor/findings.hpp"
#include "monitor/fork_guard.hpp"
#include "monitor/newest.hpp"
#include "monitor/past.hpp"
#include "monitor/region.hpp"

namespace gpulse::monitor {

struct Options {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  std::chrono::nanoseconds history = std::chrono::minutes(15);
  MetricSet metrics{};
  bool agent = true;
  bool findings = false;  // judge from the first sample on, not from the first question
};

// What a program wants to know that names nothing: what a view has a place for.
MetricSet default_metrics();

// How the feed of a monitor, or of a single look, reads.
feed::Options feed_options(const Options &options);

// Whether the machine's agent could be attached to.
bool has_agent();

// One sample without a monitor.
Result<SamplePtr> look(const Options &options);

// The position of the device that the selector means ("0", "0:1", a UUID or its beginning, a PCI address).
Result<std::size_t> find_device(const Sample &sample, std::string_view selector);

struct Stats {
  std::uint64_t samples = 0, missed = 0;
  Seconds processor{0};  // of all threads of monitors in this process
  Seconds driver{0};
  std::uint64_t driver_calls = 0;
  bool from_agent = false;
  std::chrono::nanoseconds interval{0};
};

struct Waited {
  SamplePtr sample{};
  bool ended = false;     // the monitor is being closed
  std::string problem{};  // why there was none in time; empty: there is nothing to tell
};

// How a monitor opens its feed; another one in tests.
using OpenFeed = std::function<Result<std::unique_ptr<feed::Feed>>(const feed::Options &, const std::stop_token &)>;

class Monitor {
 public:
  explicit Monitor(const Options &options, OpenFeed open_feed = feed::open);
  Monitor(const Monitor &) = delete;
  Monitor &operator=(const Monitor &) = delete;
  // Waits that go on meanwhile come to an end first.
  ~Monitor();

  bool is_forked() const { return fork_guard_.is_forked(); }

  // Empty while there is none: before the first, and when samples have stopped coming.
  SamplePtr latest() const { return newest_.take(); }
  // A sample whose number is greater.
  Waited wait(std::uint64_t number, Monotonic until) const;
  // One that is begun after the call, out of turn; of an agent's, one that was taken after it.
  Waited refresh(Monotonic until);

  // A negative one: there is no step.
  void set_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }
  // The monitor adds samples to it for as long as somebody else holds it.
  std::shared_ptr<Region> begin_region(std::string name);
  Table history(const Past::Question &question) const { return past_.table(question); }
  Stats stats() const;

  // What is to be said of the GPUs. The first of these begins to watch, unless the options do: it reads what that
  // takes.
  FindingListPtr findings();
  Result<FindingListPtr> diagnose(std::chrono::nanoseconds last);

  // Where every further sample is written to, too.
  AttachedSinks &sinks() { return sinks_; }
  const AttachedSinks &sinks() const { return sinks_; }

  // A descriptor that becomes readable with every sample; -1: none could be made.
  int subscribe();
  void unsubscribe(int descriptor);

 private:
  friend class ForkGuard;

  void run(const std::stop_token &stop);
  void open_and_follow(const std::stop_token &stop);
  void follow(feed::Feed &feed, const std::stop_token &stop);
  SamplePtr take_turn(feed::Feed &feed, const std::stop_token &stop);
  bool wait_for_turn(const std::stop_token &stop);
  SamplePtr publish(const SnapshotPtr &snapshot, bool from_agent, Monotonic begun);
  void add_to_regions(const std::vector<std::weak_ptr<Region>> &regions, const Sample &sample);
  void withdraw(std::string problem);
  bool must_read_more() const { return findings_.has_begun() && !reads_for_findings_; }
  void watch(feed::Feed &feed, const SnapshotPtr &snapshot);
  Waited wait_until(std::unique_lock<std::mutex> &lock, Monotonic until, const auto &is_there) const;
  void wait_for_end(Monotonic until) const;

  const Options options_;
  const OpenFeed open_feed_;
  Newest newest_;
  AttachedSinks sinks_;
  Past past_;
  Findings findings_;
  std::atomic<std::int64_t> step_{-1};

  // Of the monitor's thread alone.
  feed::Options reading_;  // made on the thread of the program, whose environment it looks at
  bool reads_for_findings_ = false;
  bool watching_ = false;
  Monotonic due_{};
  bool first_ = true;
  std::uint64_t asked_for_ = 0;  // as asks_ and last_ask_ were when the sample was begun
  Monotonic asked_at_{};

  mutable std::mutex mutex_;  // of everything below
  mutable std::condition_variable_any published_;
  std::condition_variable_any asked_;
  std::uint64_t asks_ = 0, served_ = 0;  // samples out of turn
  Monotonic last_ask_{};
  std::uint64_t number_ = 0, missed_ = 0;
  bool ended_ = false;
  mutable std::uint32_t waiting_ = 0;
  std::string problem_;  // why there are no more samples; empty while all is well
  std::vector<int> subscribers_;
  std::vector<std::weak_ptr<Region>> regions_;  // those that still want samples
  std::size_t next_cleaning_ = 64;              // when there are so many, those that are gone are thrown out
  std::shared_ptr<feed::Feed> feed_;

  std::timed_mutex sampling_;  // held while a sample is taken and published, and during a fork
  std::atomic<std::uint64_t> turns_{0};
  std::uint64_t hung_turn_ = UINT64_MAX;  // one that a fork has waited for in vain; of the fork guard
  ForkGuard fork_guard_{*this};
  std::jthread thread_;  // last, so that all it uses is there
};

}  // namespace gpulse::monitor
