// SPDX-License-Identifier: Apache-2.0
// An address of the web, taken apart: "https://name:8443/path?query". Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gpulse::http {

struct Url {
  bool is_secure = false;
  std::string host{};  // an IPv6 address without its brackets
  std::uint16_t port = 80;
  std::string target = "/";  // path and query

  // The port is left out where it is the usual one.
  std::string text() const;
  // "name", "[::1]:9090": host and, unless it is the usual one, port.
  std::string authority() const;
};

// A fragment is cut off. A user or password in it is refused: arguments can be seen in the list of processes.
Result<Url> parse_url(std::string_view text);

}  // namespace gpulse::http
