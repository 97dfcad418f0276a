// SPDX-License-Identifier: Apache-2.0
#include "source/amdgpu/pp_dpm.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "source/sysfs/attribute.hpp"

namespace gpulse::amdgpu {

Levels parse_levels(std::string_view text) {
  Levels out;
  text = sysfs::bare(text);
  while (!text.empty()) {
    auto line = next_piece(text, '\n');
    next_piece(line, ':');
    line = sysfs::bare(line);
    const bool marked = line.ends_with('*');
    if (marked) line = sysfs::bare(line.substr(0, line.size() - 1));
    if (!line.ends_with("Mhz") && !line.ends_with("MHz")) continue;
    // In "16.0GT/s, x16 619Mhz" the clock is the last word.
    line.remove_suffix(3);
    const auto blank = line.rfind(' ');
    if (blank != std::string_view::npos) line.remove_prefix(blank + 1);
    const auto mhz = parse_integer<std::uint32_t>(line);
    if (!mhz) continue;
    out.max_mhz = std::max(out.max_mhz.value_or(0), static_cast<double>(*mhz));
    if (marked) out.now_mhz = std::max(out.now_mhz.value_or(0), static_cast<double>(*mhz));
  }
  return out;
}

}  // namespace gpulse::amdgpu
