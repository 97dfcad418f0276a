// SPDX-License-Identifier: Apache-2.0
// What an engine's answer to a write means. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "http/client.hpp"

namespace gpulse::fleet {

enum class Verdict : std::uint8_t {
  taken,
  refused,    // something in it is too old, out of order or otherwise not wanted: it will never be taken
  too_large,  // half of it may be taken
  later,      // the engine is away or busy
  wrong,      // address, rights or settings are: somebody has to mend them
};

struct Answer {
  Verdict verdict = Verdict::later;
  std::chrono::seconds wait{0};                        // that it asks for
  std::optional<std::chrono::sys_seconds> clock = {};  // the engine's own
  std::string words{};                                 // why, for people; empty where it was taken
};

// `now`: for an answer that says until when to wait.
Answer judge(const http::ClientResponse &response, std::chrono::sys_seconds now);

}  // namespace gpulse::fleet
