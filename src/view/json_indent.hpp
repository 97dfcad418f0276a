// SPDX-License-Identifier: Apache-2.0
// Compact JSON laid out for a person to read.
#pragma once

#include <string>
#include <string_view>

namespace gpulse::view {

// So many blanks per level, one member per line, empty objects and arrays on one line, a newline at the end.
std::string indent_json(std::string_view compact, std::size_t blanks = 2);

}  // namespace gpulse::view
