// SPDX-License-Identifier: Apache-2.0
// What has to be looked at in TOML before version 3.3 of toml++ reads it, which does not survive everything. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpulse {

// The line of the first byte outside of strings and comments that cannot be there; 0: there is none.
std::size_t stray_line(std::string_view text);
inline constexpr const char *kStrayText = "something outside of quotes is no TOML";
inline constexpr const char *kStrayRemedy = "letters beyond ASCII need quotes";

}  // namespace gpulse
