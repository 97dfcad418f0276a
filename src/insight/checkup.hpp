// SPDX-License-Identifier: Apache-2.0
// What stands in the way of seeing the GPUs well, and what to do about it, the most urgent first: of the machine as it
// is set up, not of the work on it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/snapshot.hpp"

namespace gpulse::insight {

struct Remark {
  enum class Weight : std::uint8_t { trouble, advice };
  Weight weight = Weight::advice;
  std::string what;
  std::string remedy;
};

// Who reads the devices.
enum class Reader : std::uint8_t { this_program, agent, recording };

std::vector<Remark> check_up(const Snapshot &snapshot, Reader reader);

// "8 GPUs are read, and nothing stands in the way."
std::string verdict(const Snapshot &snapshot, const std::vector<Remark> &remarks);

}  // namespace gpulse::insight
