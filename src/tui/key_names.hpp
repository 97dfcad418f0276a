// SPDX-License-Identifier: Apache-2.0
// Keys by the names that people read: "Ctrl-A", "Shift-Tab", "F2", "k", "Space". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "term/input.hpp"

namespace gpulse::tui {

std::string key_name(const term::KeyPress &key);
// The reverse.
std::optional<term::KeyPress> parse_key(std::string_view name);

}  // namespace gpulse::tui
