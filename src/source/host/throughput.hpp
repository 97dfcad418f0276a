// SPDX-License-Identifier: Apache-2.0
// Bytes per second over all disks, or all interfaces, from the counters of each. Each is compared only with itself, so
// that one that comes or goes does not add or take away all the bytes it has ever moved.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "model/reading.hpp"
#include "source/host/parse.hpp"

namespace gpulse::host {

class Throughput {
 public:
  // `counted` says whether a name belongs to the sum; it is asked once for each new name.
  using Counted = std::function<bool(std::string_view)>;

  // In and out; not_supported when nothing is counted, not_sampled when there is nothing to compare with.
  std::pair<Reading, Reading> update(std::span<const Flow> flows, Monotonic now, const Counted &counted);

 private:
  struct Entry {
    std::string name;
    bool counted = false;
    bool fresh = true;
    bool seen = true;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
  };
  Entry &entry(std::size_t place, std::string_view name, const Counted &counted);

  std::vector<Entry> entries_;  // in the order of the file, so that the next text can be matched line by line
  std::optional<Monotonic> at_;
  std::pair<Reading, Reading> last_;
};

}  // namespace gpulse::host
