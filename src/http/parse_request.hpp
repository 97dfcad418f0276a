// SPDX-License-Identifier: Apache-2.0
// The head of a request, from the bytes that came: strict, because what two programs in a row read differently is how
// requests are smuggled past the first of them. Pure; for the server's thread.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "http/limits.hpp"
#include "http/message.hpp"

namespace gpulse::http {

struct Head {
  Request request;  // without body and peer
  std::uint64_t body_bytes = 0;
  bool keeps_alive = false;
  bool takes_gzip = false;
};

// Why it is refused.
struct Refusal {
  int status = 400;
  std::string_view why;
};

// All of the head, up to and with its empty line.
std::expected<Head, Refusal> parse_head(std::string_view text, const Limits &limits);

}  // namespace gpulse::http
