// SPDX-License-Identifier: Apache-2.0
// What energy costs. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace gpulse::insight {

inline constexpr double kJoulesPerKwh = 3.6e6;

struct Price {
  double per_kwh = 0;
  Text currency{};  // empty: not said

  double of(double joules) const { return per_kwh * joules / kJoulesPerKwh; }
};

// "0.30", "0.30 EUR", "0.30€"; none: there is no such price.
inline std::optional<Price> parse_price(std::string_view text) {
  constexpr std::string_view kNumber = "0123456789.";
  constexpr double kMost = 1e9;
  constexpr std::size_t kLongest = 16;  // bytes of a currency
  text = trim(text);
  const auto end = std::min(text.find_first_not_of(kNumber), text.size());
  const auto number = parse_double(text.substr(0, end));
  const Text currency(trim(text.substr(end)));
  const bool is_word = currency.str().find_first_of(kNumber) == std::string::npos && !currency.starts_with("-");
  if (!number || *number > kMost || currency.size() > kLongest || !is_word) return std::nullopt;
  return Price{*number, currency};
}

}  // namespace gpulse::insight
