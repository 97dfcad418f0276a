// SPDX-License-Identifier: Apache-2.0
// Samples in the background, for a program that has something else to do. One thread drives a feed (the agent's, or the
// drivers') and publishes; everybody else looks at what it has published, from any thread, and never waits for it
// unless they ask to.
//
// A fork takes no thread along. While one goes on, no sample is being taken, so that the child does not inherit a
// driver's locks in the middle of a call; in the child, `is_forked()` says that the monitor is the parent's. Nothing
// else of it may be used there.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "feed/feed.hpp"
#include "monitor/newest.hpp"
#include "monitor/past.hpp"
#include "monitor/region.hpp"
#include "sink/sink.hpp"

namespace gpulse::monitor {

struct Options {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  std::chrono::nanoseconds history = std::chrono::minutes(15);
  MetricSet metrics{};
  bool agent = true;
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

enum class Waited : std::uint8_t { sample, timeout, ended };

class Monitor {
 public:
  explicit Monitor(const Options &options);
  Monitor(const Monitor &) = delete;
  Monitor &operator=(const Monitor &) = delete;
  ~Monitor();

  bool is_forked() const { return forked_.load(std::memory_order_relaxed); }

  SamplePtr latest() const { return newest_.take(); }
  // A sample whose number is greater.
  Waited wait(std::uint64_t number, Monotonic until, SamplePtr &sample) const;
  // One that is begun after the call, out of turn.
  Waited refresh(Monotonic until, SamplePtr &sample);
  // Why there are no more samples; empty while all is well.
  std::string problem() const;

  void set_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }
  std::shared_ptr<Region> begin_region(std::string name);
  Table history(const Past::Question &question) const { return past_.table(question); }
  Stats stats() const;

  // Every further sample goes there too. What goes wrong with it is kept for sink_problem(), and the rest goes on.
  // `steps_may_come`: the first samples are held back for a while, because a step axis cannot begin without steps.
  void add_sink(std::unique_ptr<sink::Sink> sink, bool steps_may_come = false);
  std::string sink_problem() const;

  // A descriptor that becomes readable with every sample; -1: none could be made.
  int subscribe();
  void unsubscribe(int descriptor);

 private:
  friend struct ForkGuard;
  static constexpr std::int64_t kNoStep = INT64_MIN;
  struct Attached {
    std::unique_ptr<sink::Sink> sink;
    bool undecided = false;
    std::vector<SamplePtr> held{};
  };

  void run(const std::stop_token &stop);
  void open_and_follow(const std::stop_token &stop);
  void follow(feed::Feed &feed, const std::stop_token &stop);
  bool wait_for_turn(Monotonic due, const std::stop_token &stop, std::uint64_t &asked);
  void publish(const SnapshotPtr &snapshot, bool from_agent);
  void write(const SamplePtr &sample);
  void write(Attached &attached, const SamplePtr &sample);
  void write_held(Attached &attached);
  void note(const Result<void> &written);
  void close_sinks();
  Waited wait_until(Monotonic until, SamplePtr &sample, const auto &is_there) const;

  const Options options_;
  Newest newest_;
  Past past_;
  std::atomic<std::int64_t> step_{kNoStep};
  std::atomic<bool> forked_{false};

  mutable std::mutex mutex_;  // of everything below
  mutable std::condition_variable_any published_;
  std::condition_variable_any asked_;
  std::uint64_t asks_ = 0, served_ = 0;
  std::uint64_t number_ = 0, missed_ = 0;
  bool ended_ = false;
  std::string problem_;
  std::vector<int> subscribers_;
  std::vector<Attached> new_sinks_;
  std::string sink_problem_;
  std::vector<std::shared_ptr<Region>> regions_;  // those that still want samples
  std::shared_ptr<feed::Feed> feed_;

  std::vector<Attached> sinks_;  // the thread's own

  std::timed_mutex sampling_;  // held while a sample is taken, and during a fork
  std::jthread thread_;        // last, so that all it uses is there
};

}  // namespace gpulse::monitor
