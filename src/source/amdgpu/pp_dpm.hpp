// SPDX-License-Identifier: Apache-2.0
// Parser for amdgpu's clock tables (pp_dpm_sclk and the like): the levels of one clock, with the current one marked.
// Pure.
#pragma once

#include <optional>
#include <string_view>

namespace gpulse::amdgpu {

struct Levels {
  std::optional<double> now_mhz;  // of the marked level; the highest if several are
  std::optional<double> max_mhz;
};

// Lines such as "1: 1200Mhz *" or "S: 19Mhz"; others are skipped.
Levels parse_levels(std::string_view text);

}  // namespace gpulse::amdgpu
