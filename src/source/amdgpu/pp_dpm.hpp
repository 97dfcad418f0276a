// SPDX-License-Identifier: Apache-2.0
// The clock tables of amdgpu (pp_dpm_sclk and its kin): the levels of one clock, the present one marked.
#pragma once

#include <optional>
#include <string_view>

namespace gpulse::amdgpu {

struct Levels {
  std::optional<double> now_mhz;  // of the level that is marked; the highest where several are
  std::optional<double> max_mhz;
};

// Lines such as "1: 1200Mhz *" or "S: 19Mhz"; what is none is passed over.
Levels parse_levels(std::string_view text);

}  // namespace gpulse::amdgpu
