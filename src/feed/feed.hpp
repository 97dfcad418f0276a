// SPDX-License-Identifier: Apache-2.0
// Where samples come from: this machine, a recording or the demo, behind one interface. Commands, the library and the
// agent all stand on it.
//
// One thread drives a feed: it calls once(), again() and next(), or leaves that to run(). Everything else may be called
// from any thread. A stop that is asked for ends every wait within a tenth of a second, also while a driver hangs; the
// sample is null then.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "insight/finding.hpp"
#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "sample/sampler.hpp"
#include "share/place.hpp"

namespace gpulse::feed {

class Timeline;

// Whether the first sample is read twice, a window apart: rates and true activity need two readings.
enum class Rates : std::uint8_t {
  always,
  if_needed,  // only where a number that was asked for is not there after the first
  never,
};

struct Options {
  std::string source = "auto";
  std::string sysroot = {};
  std::string replay = {};   // a recording, trace or log of nvidia-smi to play instead
  std::string columns = {};  // of CSV without titles
  bool demo = false;         // the recording in the binary instead
  bool wake = false;         // read also GPUs that sleep, which wakes them
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  Rates rates = Rates::always;
  std::chrono::nanoseconds window = std::chrono::milliseconds(100);
  std::optional<MetricSet> only = {};  // nothing but these is read
  MetricSet of_instances = {};         // of these, what is looked at only where a device is split
  bool instances = false;              // as in SourceOptions
  bool either_limit = false;           // as in SourceOptions
  bool all_each_time = false;          // read each time, however seldom it would be otherwise
  bool continuous = false;             // samples are taken for a while: listen for events, let go of idle GPUs
  Tier rest = Tier::slow;              // how often what is not in focus is read
  bool agent = false;                  // take those of the machine's agent, where there is one
  // Where it is looked for; without it, where the environment says at that time. A program may change its environment
  // while another thread drives the feed, which must not look at it then.
  std::optional<std::vector<share::Place>> places = {};
  bool for_everybody = false;                            // the samples are shown to every user of the machine
  std::function<void(const std::string &)> notice = {};  // told what the user should know of while it goes on
  // Of a recording
  double speed = 1;
  std::optional<std::chrono::nanoseconds> at = {};  // where to begin, from its start
};

// The agent whose samples a feed hands on.
struct AgentInfo {
  std::string folder;
  std::uint64_t pid = 0;
  std::chrono::nanoseconds interval{0}, age{0};
};

using Subscriber = std::function<void(const SnapshotPtr &)>;

// As long as it lives, its subscriber gets every sample. When its destructor has returned, no call is going on.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::shared_ptr<void> ending) : ending_(std::move(ending)) {}

 private:
  std::shared_ptr<void> ending_;
};

class Feed {
 public:
  Feed() = default;
  Feed(const Feed &) = delete;
  Feed &operator=(const Feed &) = delete;
  virtual ~Feed() = default;

  virtual bool is_live() const = 0;
  // One sample, with the rates in it as the options say.
  virtual Result<SnapshotPtr> once(const std::stop_token &stop = {}) = 0;
  // Another one, now.
  virtual Result<SnapshotPtr> again(const std::stop_token &stop = {}) = 0;
  // The next one at the interval, or as recorded; null at the end of a recording. The first comes at once.
  virtual Result<SnapshotPtr> next(const std::stop_token &stop = {}) = 0;

  // Hands on every further one, until `take` says that it was the last, a stop is asked for or the recording ends.
  // `take` runs on a thread of its own while this one waits.
  virtual Result<void> follow(const std::stop_token &stop, const std::function<bool(const SnapshotPtr &)> &take);

  // The samples of a recording by number; null of a live feed.
  virtual Timeline *recording() { return nullptr; }
  // Something the user should know of, in one line: damage to a recording. Empty: all is well.
  virtual std::string warning() const { return {}; }
  // What somebody looks at from now on, as Sampler::focus.
  virtual void focus(const MetricSet & /*set*/) {}
  // The time between samples from now on; not while another thread takes one.
  virtual void set_interval(std::chrono::nanoseconds /*interval*/) {}
  // Samples of the past minute or so that others took, the oldest first; none where nobody did.
  virtual std::vector<SnapshotPtr> past() { return {}; }
  // What is wrong with the half minute before the last sample, the worst first; none where nobody has judged it.
  virtual std::optional<std::vector<insight::Finding>> findings() { return std::nullopt; }
  // None: this program calls the drivers itself.
  virtual std::optional<AgentInfo> agent() const { return std::nullopt; }
  // Whether the last sample was an agent's. For the thread that drives the feed.
  virtual bool is_from_agent() const { return false; }
  // Asks for the drivers to be let go of, without waiting for them. True when they are. No sample comes after it.
  virtual bool try_close() { return true; }
  // What the calls to the drivers cost; nothing of a recording.
  virtual std::vector<CostReport> costs() const { return {}; }

  // Subscribers are called one after the other, by run().
  Subscription subscribe(Subscriber subscriber);
  // Hands out every sample until a stop is asked for or the recording ends.
  Result<void> run(const std::stop_token &stop);

 private:
  // Outlives the feed where a subscription does.
  struct Subscribers {
    std::recursive_mutex mutex;  // recursive: a subscriber may end its own subscription
    std::vector<std::shared_ptr<Subscriber>> list;
  };
  std::shared_ptr<Subscribers> subscribers_ = std::make_shared<Subscribers>();
};

// A recording that comes through a pipe is waited for, unless asked to stop.
Result<std::unique_ptr<Feed>> open(const Options &options, const std::stop_token &stop = {});

}  // namespace gpulse::feed
