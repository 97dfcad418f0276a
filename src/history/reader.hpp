// SPDX-License-Identifier: Apache-2.0
// A history as others read it, also while an agent writes it: curves, who was there, what happened, and the samples
// themselves. No call holds the file for longer than it takes, so that the writer goes on. One thread.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "history/raw_reader.hpp"
#include "history/rollup.hpp"
#include "history/schema.hpp"
#include "insight/usage.hpp"
#include "model/snapshot.hpp"

namespace gpulse::history {

// The origin of every sample that comes from here.
inline constexpr const char *kHistoryOrigin = "HISTORY";

// From `from` on, before `to`.
struct Span {
  WallTime from{}, to{};
  bool contains(WallTime time) const { return from <= time && time < to; }
};

struct KnownDevice {
  std::int64_t id = 0;
  DeviceId number;  // as it was last
  std::shared_ptr<const DeviceIdentity> identity;
  WallTime first{}, last{};
};

// How far back each tier reaches; none: it is empty.
struct Coverage {
  std::optional<Span> raw, ten_seconds, minute;
  const std::optional<Span> &of(Tier tier) const {
    return tier == Tier::raw ? raw : tier == Tier::minute ? minute : ten_seconds;
  }
};

struct Point {
  WallTime time{};  // when the stretch of time begins
  double value = 0, least = 0, greatest = 0;
  double seconds = 0;  // that it stands for; 0: it is a change
};
struct Series {
  MetricId metric;
  std::int64_t device = 0;    // 0: of the host
  std::vector<Point> points;  // by time; where nothing is known there is none
  // Of what is true until it changes: from when on nothing is known of it.
  std::vector<WallTime> ends{};
};
struct RangeQuery {
  Span span;
  std::vector<MetricId> metrics;        // of devices and of the host
  std::vector<std::int64_t> devices{};  // empty: all
  std::chrono::seconds step{0};         // 0: such that there are about `points` of them
  std::size_t points = 1000;
};
struct Range {
  Tier tier = Tier::raw;  // that it was read from
  std::chrono::seconds step{0};
  std::vector<Series> series;  // of each metric all devices that have any of it
};

// A process on a device, within a span.
struct ProcessUse {
  std::int64_t id = 0;
  std::int64_t device = 0;
  std::uint32_t pid = 0;
  std::string type;
  TextRow texts{Scope::process};
  WallTime first{}, last{};    // that it was seen, also outside of the span
  double seconds = 0;          // within the span
  std::vector<Folded> values;  // within the span, in the order of kept_metrics(Scope::process)
};

struct Change {
  WallTime time{};
  std::int64_t device = 0;
  MetricId metric;
  Reading reading;
};

struct LostSpan {
  Span span;
  std::uint64_t samples = 0;
  Text reason;
};

// Which sample: of the raw ones, or one made of the roll-ups.
struct SampleRef {
  WallTime time{};
  Tier tier = Tier::raw;
};

// Samples that follow each other. When each of those in packed chunks was taken need not be known to count them.
struct SampleBlock {
  Tier tier = Tier::raw;
  WallTime first{}, last{};  // of the samples
  std::size_t count = 0;
  std::vector<WallTime> times{};  // of all of them; empty: to be read from the chunks
  std::vector<std::int64_t> chunks{};
};

// Told how much of the work is done, from 0 to 1.
using Progress = std::function<void(double)>;

class Reader {
 public:
  static Result<Reader> open(const std::string &path, const std::stop_token &stop = {});

  // What is asked from now on ends with an error soon after the stop, or the time.
  void end_with(const std::stop_token &stop, Monotonic deadline) { database_->end_with(stop, deadline); }
  // Between questions; what it keeps of the file is read again.
  void release_memory() { database_->release_memory(); }

  const std::string &path() const { return database_->path(); }
  const Text &hostname() const { return hostname_; }
  const std::vector<KnownDevice> &devices() const { return devices_; }
  const KnownDevice *device(std::int64_t id) const;
  // Reads again who is there.
  Result<void> refresh();

  Result<Coverage> coverage();
  Result<Range> range(const RangeQuery &query, const Progress &progress = {});
  // Those that were on the devices (empty: on any), those with the most GPU time first.
  Result<std::vector<ProcessUse>> processes(const Span &span, std::span<const std::int64_t> devices,
                                            const Progress &progress = {});
  // What the devices (empty: all) were used for, from the whole minutes of the span.
  Result<insight::Usage> usage(const Span &span, std::span<const std::int64_t> devices, const Progress &progress = {});
  Result<std::vector<Event>> events(const Span &span);
  Result<std::vector<Change>> changes(const Span &span);
  Result<std::vector<LostSpan>> lost(const Span &span);

  // All that there is of the span, by time: the raw samples, and before them what the roll-ups know.
  Result<std::vector<SampleRef>> samples(const Span &span, const Progress &progress = {});
  // The same by the block, which takes no longer for chunks that nobody looks at.
  Result<std::vector<SampleBlock>> blocks(const Span &span);
  // Of a damaged block, those that can be read.
  Result<std::vector<WallTime>> times(const SampleBlock &block);
  // Null: it is not there any more.
  Result<SnapshotPtr> sample(const SampleRef &ref);
  // Damaged chunks that were passed by so far.
  std::uint64_t damaged() const { return damaged_; }

 private:
  Reader(std::unique_ptr<Database> database, RawReader raw) : database_(std::move(database)), raw_(std::move(raw)) {}

  // Calls take(sample) for the last one before the span, where it is at hand, and those of the span, in the order in
  // which they were written.
  using Take = std::function<void(const TimedSample &)>;
  Result<void> each_sample(const Span &span, const Take &take, const Progress &progress);
  Result<std::optional<Span>> rolled_span(Tier tier);
  Result<Tier> choose_tier(const RangeQuery &query);
  Result<void> read_tier(const RangeQuery &query, Range &range, const Progress &progress);
  Result<void> read_rolled(const RangeQuery &query, Range &range, Scope scope);
  Result<void> read_changes(const RangeQuery &query, Range &range);
  Result<void> read_raw(const RangeQuery &query, const Span &span, Range &range, const Progress &progress);
  Result<Span> whole_minutes(const Span &span);
  Result<void> add_samples(const Span &span, std::span<const std::int64_t> devices, std::vector<ProcessUse> &all);
  Result<std::vector<SampleBlock>> raw_blocks(const Span &span);
  Result<std::vector<WallTime>> rolled_times(Tier tier, WallTime from, WallTime to);
  Result<SnapshotPtr> raw_sample(WallTime time);
  // Samples made of roll-ups, from a span that begins at a multiple of its length.
  struct RolledBatch {
    Tier tier;
    Span span;
    std::vector<std::shared_ptr<Snapshot>> samples;
  };
  Result<SnapshotPtr> rolled_sample(const SampleRef &ref);
  Result<void> read_batch(RolledBatch &batch);
  Result<void> add_rolled_devices(RolledBatch &batch);
  Result<void> add_changes(RolledBatch &batch);
  Result<void> add_rolled_processes(RolledBatch &batch);
  Result<void> add_rolled_events(RolledBatch &batch);

  std::unique_ptr<Database> database_;
  RawReader raw_;
  Text hostname_;
  std::vector<KnownDevice> devices_;
  std::uint64_t damaged_ = 0;
  std::vector<TimedSample> cached_;  // of the chunk that was read last
  std::deque<RolledBatch> rolled_;   // read last, the last one first
};

}  // namespace gpulse::history
