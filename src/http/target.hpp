// SPDX-License-Identifier: Apache-2.0
// The address in a request's first line, taken apart and decoded once. Pure; for the server and its tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace gpulse::http {

struct Target {
  std::string path;
  Fields query;
};

// None: an address that no honest client sends. That is one which does not begin with a slash, has a wrong escape, "."
// or ".." as a part of its path, an escaped slash, a control character, or bytes that are no UTF-8.
std::optional<Target> parse_target(std::string_view text);

// A part of a path, or a value of a query, as it stands in an address.
std::string percent_encoded(std::string_view text);

}  // namespace gpulse::http
