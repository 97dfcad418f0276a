// SPDX-License-Identifier: Apache-2.0
// What a person can do about a finding, in the framework at hand, with the number to try. The rules call it with what
// they know of the job; a number that would rest on nothing is left out. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "insight/finding.hpp"

namespace gpulse::insight {

// How a job came to run out of GPU memory.
enum class OutOfMemoryCause : std::uint8_t { unknown, first_step, growth, other_process };

// What is known of the job that a finding is about; none: not known.
struct AdviceContext {
  std::string framework{};                 // as the metric `framework` has it: "PyTorch", …; empty: not known
  std::optional<double> cores{};           // of the host
  std::optional<double> idle_cores{};      // of those, with nothing to do
  std::optional<double> tree_processes{};  // of the job
  std::optional<double> busy_processes{};  // of those, at a whole core each
  std::optional<double> lost_share{};      // of GPU time
  std::optional<double> batch_factor{};    // by which a batch could grow
  std::optional<double> stall_seconds{};   // how long a stall takes
  bool writes = false, reads = false;      // the job does, while the GPU waits
  std::int64_t code = 0;                   // of an XID, where it is about one
  std::optional<std::uint32_t> pid{};      // the process to look at
  OutOfMemoryCause cause = OutOfMemoryCause::unknown;
  std::string metric{};  // key of the reading that says that the device is not well, where it is about one
};

// What to try first comes first, how to see that it helped last; each one sentence. Empty where there is nothing to do.
std::vector<std::string> advice(FindingId id, const AdviceContext &context);

}  // namespace gpulse::insight
