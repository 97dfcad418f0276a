// SPDX-License-Identifier: Apache-2.0
// Small pure functions on text: numbers, trimming, splitting, making foreign text safe to print.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse {

std::string_view trim(std::string_view text);

// Whole text must be the number: "12x" is none.
std::optional<double> parse_double(std::string_view text);

template <class Integer>
std::optional<Integer> parse_integer(std::string_view text, int base = 10) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes the piece before the separator off `rest`; the last piece leaves it empty.
std::string_view next_piece(std::string_view &rest, char separator);

// Takes the next blank-separated word off `rest`; empty when there is none left.
std::string_view next_word(std::string_view &rest);

std::vector<std::string_view> split(std::string_view text, char separator);

// The capitals of ASCII made small.
std::string lower(std::string_view text);

// As printf's "%.*f", in a quarter of the time where it has at most three digits after the point.
std::string fixed(double number, int digits);

// Blank-separated words of a line.
std::vector<std::string_view> split_words(std::string_view text);

// Text from outside (process names, files) as valid UTF-8 without control characters: bad bytes become U+FFFD,
// control characters become a space.
std::string printable(std::string_view text);

}  // namespace gpulse
