// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "base/text.hpp"

namespace gpulse {

namespace {

constexpr std::size_t kTooFar = std::numeric_limits<std::size_t>::max();

struct Distance {
  std::size_t whole;  // to the name
  std::size_t start;  // to the beginning of the name that comes nearest
};

// Letters to insert, drop, replace, or swap with their neighbour.
Distance distance(std::string_view typed, std::string_view name) {
  // Three rows of the usual matrix: a swap looks back two.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto &row : rows) row.resize(name.size() + 1);
  for (std::size_t j = 0; j <= name.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= typed.size(); ++i) {
    const auto &above = rows[(i - 1) % 3];
    const auto &two_above = rows[(i + 1) % 3];
    auto &row = rows[i % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= name.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (typed[i - 1] == name[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && typed[i - 1] == name[j - 2] && typed[i - 2] == name[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  const auto &last = rows[typed.size() % 3];
  return {last.back(), *std::ranges::min_element(last)};
}

std::vector<std::string> sorted_pieces(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '-' || c == '_' || c == '.'; }, ' ');
  std::vector<std::string> pieces;
  for (const auto word : split_words(text)) pieces.emplace_back(word);
  std::ranges::sort(pieces);
  return pieces;
}

// The smaller, the more likely; kTooFar: it cannot be meant.
std::size_t unlikeliness(const std::string &typed, std::string_view name) {
  constexpr std::size_t kHalfAName = 4;
  const auto other = lower(name);
  // Dashes in front are no letters that anybody gets wrong.
  const auto letters = typed.size() - std::min(typed.find_first_not_of('-'), typed.size());
  const auto most = letters <= 2 ? 1 : std::max<std::size_t>(2, letters / 3);
  if (letters == 0) return kTooFar;
  const auto [whole, start] = distance(typed, other);
  // All letters replaced is no typing error.
  if (whole <= most && whole < letters) return 2 * whole;
  // "gpu-query" for "query-gpu"
  if (typed.size() >= kHalfAName && sorted_pieces(typed) == sorted_pieces(other)) return 3;
  // "sm_actve" for "sm_active_percent": fewer mistakes are forgiven where less was typed.
  if (letters >= kHalfAName && start <= letters / 4) return 2 * start + 1;
  // "tensor" for "hmma_tensor_active_percent"
  return letters >= kHalfAName && other.contains(typed) ? 2 * most + 1 : kTooFar;
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> names) {
  const auto wanted = lower(typed);
  std::string_view best;
  std::size_t least = kTooFar;
  for (const auto name : names) {
    const auto now = unlikeliness(wanted, name);
    if (now < least) {
      least = now;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names, std::string_view otherwise) {
  const auto near = nearest(typed, names);
  return near.empty() ? std::string(otherwise) : "did you mean " + std::string(near) + "?";
}

}  // namespace gpulse
