// SPDX-License-Identifier: Apache-2.0
#include "fleet/engine_values.hpp"

#include <algorithm>
#include <string>

namespace gpulse::fleet {

Text short_text(std::string_view text) {
  constexpr std::size_t kMostBytes = 256;
  return std::string(first_bytes(printable(text.substr(0, 4 * kMostBytes)), kMostBytes));
}

std::optional<WallTime> moment_at(double seconds) {
  constexpr double kLast = 9e9;
  if (!(seconds > 0 && seconds < kLast)) return std::nullopt;
  return WallTime(std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(seconds)));
}

std::optional<unsigned> bit_of(MetricId id, std::string_view word) {
  constexpr std::string_view kBitWord = "bit ";
  constexpr unsigned kMostBits = 52;  // that a double holds exactly
  const auto &words = describe(id).words;
  const auto found = std::ranges::find(words, word);
  if (found != words.end()) return static_cast<unsigned>(found - words.begin());
  if (!word.starts_with(kBitWord)) return std::nullopt;
  const auto bit = parse_integer<unsigned>(word.substr(kBitWord.size()));
  return bit && *bit < kMostBits ? bit : std::nullopt;
}

}  // namespace gpulse::fleet
