// SPDX-License-Identifier: Apache-2.0
// How far an engine has what the history keeps: a small file beside the history, written after each acknowledgement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace gpulse::fleet {

struct Position {
  std::string url{};                     // whose it is
  WallTime time{};                       // of the last sample that the engine has dealt with
  std::uint64_t taken = 0, refused = 0;  // samples, ever

  bool operator==(const Position &) const = default;
};

std::string position_text(const Position &position);
// None: it is no such text.
std::optional<Position> parse_position(std::string_view text);

// None: there is no file, or none that can be read.
std::optional<Position> read_position(const std::string &path);
Result<void> write_position(const std::string &path, const Position &position);

}  // namespace gpulse::fleet
