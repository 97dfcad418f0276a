// SPDX-License-Identifier: Apache-2.0
// What readers ask of the agent while they live: how often to sample, and for what. A plain value.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "metric/set.hpp"
#include "share/message.hpp"

namespace gpulse::serve {

struct Limits {
  std::chrono::nanoseconds interval{0};  // when nobody asks for more
  std::chrono::nanoseconds fastest{0};   // that anybody gets
};

class Demand {
 public:
  struct Reader {
    share::ReaderStatus who;
    Monotonic since{};
    std::optional<MetricSet> metrics{};  // none: all
  };

  void set(std::uint64_t client, Reader reader) { readers_[client] = std::move(reader); }
  void drop(std::uint64_t client) { readers_.erase(client); }

  std::chrono::nanoseconds interval(const Limits &limits) const;
  // What those want that make the agent sample faster than usual; none: everything, by one of them or because it does
  // not.
  std::optional<MetricSet> focus(const Limits &limits) const;
  std::vector<share::ReaderStatus> readers(Monotonic now) const;

 private:
  std::map<std::uint64_t, Reader> readers_;
};

}  // namespace gpulse::serve
