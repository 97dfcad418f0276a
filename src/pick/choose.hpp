// SPDX-License-Identifier: Apache-2.0
// Which devices are free, the best first, and why the others are not: a pure function of a snapshot. For pick() and
// for whoever wants to know without taking any; any thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metric/set.hpp"
#include "model/snapshot.hpp"
#include "pick/visible.hpp"

namespace gpulse::pick {

struct Request {
  std::size_t count = 1;
  // Without a number of bytes: this share of the memory, so that a GPU has to be as good as empty. 0: memory does not
  // matter.
  std::optional<double> min_free_bytes = {};
  double min_free_share = 0.9;
  // Without it 10 %, where the device tells its utilisation at all: an instance does not. 100: it does not matter.
  std::optional<double> max_util_percent = {};
};
inline constexpr double kUsualMaxUtil = 10;

struct Refusal {
  std::size_t device = 0;  // position in the snapshot's devices
  std::string reason;      // "12.0 of 80.0 GiB free, 20.0 GiB asked for", "held by pid 7 of ann"
};

struct Choice {
  std::vector<std::size_t> free;  // all that will do: those with most free memory first
  std::vector<Refusal> refused;   // the others that the mask allows, in the snapshot's order
};

// `taken`: by UUID, who has leased it. Devices of one vendor go together: `free` has those of one, the one with
// enough of them.
Choice choose(const Snapshot &snapshot, const Visible &visible, const Request &request,
              const std::map<std::string, std::string> &taken = {});

// "GPU 3", "GPU 0:1".
std::string device_name(const Device &device);
// What has to be read for it.
MetricSet needs_of_choice();
// "20GiB", "500 MB", "8g", "90%": a number of bytes, or a share of the memory. G is GiB, GB is 10^9.
struct Size {
  std::optional<double> bytes, share;
};
std::optional<Size> parse_size(std::string_view text);

}  // namespace gpulse::pick
