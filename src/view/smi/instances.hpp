// SPDX-License-Identifier: Apache-2.0
// nvidia-smi mig: how devices can be split into instances, and how they are; and nvidia-smi compute-policy.
#pragma once

#include <string>
#include <vector>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

enum class InstanceTable : std::uint8_t { profiles, placements, gpu_instances, compute_profiles, compute_instances };

MetricSet needs_of_instances(InstanceTable table);

// What a command shows, or why it cannot; `code` is the driver's for that, 0: all is well.
struct InstanceText {
  std::string text;
  std::uint16_t code = 0;
};
// Only these GPU instances, if any are given.
InstanceText instance_text(const Selection &selection, InstanceTable table, const std::vector<std::uint32_t> &only);

MetricSet needs_of_policies();
std::string policy_table(const Selection &selection);

}  // namespace gpulse::view::smi
