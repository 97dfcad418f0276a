// SPDX-License-Identifier: Apache-2.0
// Compact JSON laid out for a person to read.
#pragma once

#include <string>
#include <string_view>

namespace gpulse::view {

// Two blanks per level, one member per line, empty objects and arrays on one line, a newline at the end.
std::string indent_json(std::string_view compact);

}  // namespace gpulse::view
