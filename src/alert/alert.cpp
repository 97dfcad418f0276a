// SPDX-License-Identifier: Apache-2.0
#include "alert/alert.hpp"

#include <fmt/format.h>

#include "base/random.hpp"

namespace gpulse::alert {

bool fits(std::string_view pattern, std::string_view name) {
  // The last star may stand for one letter more each time that the rest does not fit.
  std::size_t at = 0, place = 0, star = std::string_view::npos, begun = 0;
  while (place < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      begun = place;
    } else if (at < pattern.size() && pattern[at] == name[place]) {
      ++at;
      ++place;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      place = ++begun;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool covers(const Silence &silence, const Alert &alert, WallTime now) {
  if (silence.until != WallTime{} && now >= silence.until) return false;
  if (!fits(silence.rule, alert.rule)) return false;
  return silence.gpu.empty() || silence.gpu == alert.gpu || alert.uuid.starts_with(silence.gpu);
}

std::string random_word(std::size_t digits) {
  std::string word;
  while (word.size() < digits) word += fmt::format("{:08x}", random_bits());
  word.resize(digits);
  return word;
}

}  // namespace gpulse::alert
