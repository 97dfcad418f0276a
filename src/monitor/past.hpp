// SPDX-License-Identifier: Apache-2.0
// What a monitor remembers: the numbers of the last minutes, without texts and processes. The monitor's thread adds,
// any thread may ask.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "metric/set.hpp"
#include "monitor/sample.hpp"
#include "monitor/table.hpp"

namespace gpulse::monitor {

class Past {
 public:
  Past(std::chrono::nanoseconds keep, const MetricSet &metrics);

  void add(const Sample &sample);

  struct Question {
    std::optional<WallTime> since{}, until{};
    std::chrono::nanoseconds every{0};  // stretches that become one row; 0: every sample
    Scope scope = Scope::device;        // or host
    std::vector<std::string> uuids{};   // none: all devices
  };
  Table table(const Question &question) const;

 private:
  // The devices that a row has, shared by all rows until one comes or goes.
  struct Layout {
    std::vector<std::string> uuids, ids;
    bool fits(const Sample &sample) const;
  };
  struct Moment {
    WallTime time{};
    Monotonic at{};
    std::optional<std::int64_t> step{};
    std::shared_ptr<const Layout> layout;
    std::vector<Reading> readings;  // of each device in turn, then of the host
  };
  static std::size_t bytes_of(const Moment &moment) { return sizeof moment + moment.readings.size() * sizeof(Reading); }

  const std::chrono::nanoseconds keep_;
  std::vector<MetricId> device_metrics_, host_metrics_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Moment>> moments_;
  std::size_t bytes_ = 0;
};

}  // namespace gpulse::monitor
