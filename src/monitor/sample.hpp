// SPDX-License-Identifier: Apache-2.0
// A snapshot as a monitor hands it out: with its number, its place on the program's own clock, and the step of the
// training that went on. It never changes, and lives for as long as anybody holds it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "model/snapshot.hpp"

namespace gpulse::monitor {

// When a device's energy counter was first seen with its present value. Drivers are asked for it once a second, so most
// samples repeat it.
struct EnergyPoint {
  Monotonic at{};
  Reading joules{};
  std::chrono::nanoseconds late{0};  // it was read up to so long before
};

// What regions look at, of one device. Made once per sample, because a program may have thousands of regions.
struct RegionPoint {
  Monotonic at{};
  Reading memory{}, memory_total{}, process_memory{}, utilization{}, true_activity{}, power{}, power_limit{};
  EnergyPoint energy{};
};

class Sample {
 public:
  Sample() = default;
  Sample(const Sample &) = delete;
  Sample &operator=(const Sample &) = delete;
  ~Sample() { delete json_.load(std::memory_order_acquire); }

  SnapshotPtr snapshot;
  std::uint64_t number = 0;
  Monotonic at{};
  std::chrono::nanoseconds took{0};  // to read it: the first one reads twice, a while apart
  std::optional<std::int64_t> step{};
  bool from_agent = false;
  std::vector<RegionPoint> points{};  // of each device
  std::vector<std::string> ids{};     // of each device: "0", "0:1"

  // `gpulse --json` of it, made when it is asked for.
  const std::string &json() const;

 private:
  friend class SamplePtr;
  mutable std::atomic<std::uint32_t> holders_{0};
  mutable std::atomic<const std::string *> json_{nullptr};
};

// Counts in the sample itself, so that a C program can hold one by a plain pointer.
class SamplePtr {
 public:
  SamplePtr() = default;
  explicit SamplePtr(const Sample *sample) : sample_(sample) { retain(sample_); }
  SamplePtr(const SamplePtr &other) : SamplePtr(other.sample_) {}
  SamplePtr(SamplePtr &&other) noexcept : sample_(std::exchange(other.sample_, nullptr)) {}
  SamplePtr &operator=(SamplePtr other) noexcept {
    std::swap(sample_, other.sample_);
    return *this;
  }
  ~SamplePtr() { release(sample_); }

  const Sample *get() const { return sample_; }
  const Sample *operator->() const { return sample_; }
  const Sample &operator*() const { return *sample_; }
  explicit operator bool() const { return sample_ != nullptr; }
  // The caller has to release() it.
  const Sample *detach() { return std::exchange(sample_, nullptr); }

  static void retain(const Sample *sample) {
    if (sample != nullptr) sample->holders_.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(const Sample *sample) {
    if (sample != nullptr && sample->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete sample;
  }

 private:
  const Sample *sample_ = nullptr;
};

}  // namespace gpulse::monitor
