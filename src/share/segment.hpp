// SPDX-License-Identifier: Apache-2.0
// The agent's side and the readers' side of the file that holds the newest samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "base/clock.hpp"
#include "codec/snapshot_codec.hpp"
#include "share/past.hpp"
#include "share/place.hpp"
#include "share/slots.hpp"

namespace gpulse::share {

// A file mapped into memory.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void *memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  Mapping(Mapping &&other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping &operator=(Mapping &&other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping();

  std::span<Word> words() const { return {static_cast<Word *>(memory_), bytes_ / sizeof(Word)}; }

 private:
  void *memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// Publishes snapshots in a folder. What does not fit makes it begin a larger file, which takes the place of the other.
class Publisher {
 public:
  // The folder must be prepared and its lock held.
  explicit Publisher(std::string folder) : folder_(std::move(folder)) {}
  Publisher(Publisher &&) = default;
  Publisher &operator=(Publisher &&) = delete;
  Publisher(const Publisher &) = delete;
  Publisher &operator=(const Publisher &) = delete;
  // Readers see at once that nothing more comes, and later ones find nothing.
  ~Publisher();

  Result<void> publish(const SnapshotPtr &snapshot, std::chrono::nanoseconds interval);
  std::uint64_t bytes() const { return file_.layout.bytes; }

 private:
  // What is written to.
  struct File {
    Mapping mapping{};
    Layout layout{};
    std::optional<PastWriter> past{};
    std::uint64_t number = 0;  // of the newest sample
  };
  Result<File> make_file(const std::string &path, const Room &room);
  void set_state(SegmentState state);

  std::string folder_;
  File file_;
  std::uint64_t started_ = 0;
  codec::SnapshotEncoder encoder_;
  codec::WireWriter bytes_;
  std::uint64_t identities_ = 0;
  std::vector<std::shared_ptr<const DeviceIdentity>> known_;
};

// What a reader got, and how old it is.
struct Taken {
  std::shared_ptr<Snapshot> snapshot;  // nobody else's
  std::uint64_t number = 0;
  std::chrono::nanoseconds age{0};
};

class SegmentReader {
 public:
  // An error says in one line what is wrong with the place; it has no more to say where there is simply no agent.
  static Result<SegmentReader> open(const Place &place, BootClock clock = boot_clock);
  // The first place that has a fresh one. `problem` gets what is wrong with one that is there but cannot be used.
  static std::optional<SegmentReader> find(std::string &problem, const std::vector<Place> &places = places_to_look());

  // The newest sample; an error where it is stale, torn or damaged.
  Result<Taken> latest() const;
  // Why the newest sample is not to be shown as that of now; nothing while all is well.
  Result<void> check() const;
  // Waits for a sample with a greater number. False: a stop was asked for, the time is over, or no more will come here.
  bool wait_beyond(std::uint64_t number, Monotonic until, const std::stop_token &stop) const;

  std::vector<PastSample> past() const { return read_past(mapping_.words(), layout_, *slots_); }
  std::chrono::nanoseconds interval() const;
  const Layout &layout() const { return layout_; }
  const Place &place() const { return place_; }
  // One reading, by the device's position in the snapshot. None: the agent has no such metric or device, or no sample.
  std::optional<Reading> device_reading(std::size_t device, MetricId metric) const;

 private:
  SegmentReader(Place place, BootClock clock, Mapping mapping, const Layout &layout,
                std::shared_ptr<const codec::SlotMap> slots)
      : place_(std::move(place)),
        clock_(clock),
        mapping_(std::move(mapping)),
        layout_(layout),
        slots_(std::move(slots)),
        knows_pid_(layout.pid > 0 && layout.pid <= INT32_MAX && layout.pid_namespace != 0 &&
                   layout.pid_namespace == share::pid_namespace()) {}
  bool is_killed() const;
  Result<std::chrono::nanoseconds> age_of(std::uint64_t boot_time) const;

  Place place_;
  BootClock clock_;
  Mapping mapping_;
  Layout layout_;
  std::shared_ptr<const codec::SlotMap> slots_;
  bool knows_pid_;  // the agent's pid is one of our own namespace
};

}  // namespace gpulse::share
