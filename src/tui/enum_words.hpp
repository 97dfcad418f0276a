// SPDX-License-Identifier: Apache-2.0
// The words for the values of an enumeration, as settings files, menus and the command line write them. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace gpulse::tui {

// A specialisation stands beside each enumeration, in the order of its values.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords{};

template <class... Text>
constexpr std::array<std::string_view, sizeof...(Text)> make_words(const Text &...text) {
  return {std::string_view(text)...};
}

template <class Enum>
concept HasWords = !kWords<Enum>.empty();

template <HasWords Enum>
constexpr std::string_view word(Enum value) {
  constexpr auto &words = kWords<Enum>;
  return words[static_cast<std::size_t>(value)];
}

template <HasWords Enum>
std::optional<Enum> from_word(std::string_view word) {
  const auto *const found = std::ranges::find(kWords<Enum>, word);
  if (found == kWords<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - kWords<Enum>.begin());
}

// To the next value; after the last comes the first.
template <HasWords Enum>
void cycle(Enum &value) {
  value = static_cast<Enum>((static_cast<std::size_t>(value) + 1) % kWords<Enum>.size());
}

}  // namespace gpulse::tui
