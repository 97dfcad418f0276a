// SPDX-License-Identifier: Apache-2.0
// Small pure functions on text: numbers, trimming, splitting, making foreign text safe to print.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
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

bool is_utf8(std::string_view text);

// Text from outside as one line of valid UTF-8 that shows what it holds: bad bytes become U+FFFD; control characters,
// line separators, and what turns the writing direction or cannot be seen become a space.
std::string printable(std::string_view text);

// As many whole characters of a printable() text as go into so many bytes.
std::string_view first_bytes(std::string_view text, std::size_t most);

// A printable() text, whatever it was made from. All that views and messages get from outside is of this type, so that
// no source needs to think of it and no view can leak what a terminal or a parser would act on.
class Text {
 public:
  Text() = default;
  Text(std::string text);                                   // NOLINT(google-explicit-constructor)
  Text(std::string_view text) : value_(printable(text)) {}  // NOLINT(google-explicit-constructor)
  Text(const char *text) : Text(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)

  const std::string &str() const { return value_; }
  operator const std::string &() const { return value_; }  // NOLINT(google-explicit-constructor)
  operator std::string_view() const { return value_; }     // NOLINT(google-explicit-constructor)
  bool empty() const { return value_.empty(); }
  std::size_t size() const { return value_.size(); }
  bool contains(std::string_view part) const { return value_.contains(part); }
  bool starts_with(std::string_view part) const { return value_.starts_with(part); }

  friend bool operator==(const Text &, const Text &) = default;
  template <std::convertible_to<std::string_view> Other>
  friend bool operator==(const Text &a, const Other &b) {
    return a.value_ == std::string_view(b);
  }
  friend std::string operator+(const Text &a, std::string_view b) { return a.value_ + std::string(b); }
  friend std::string operator+(std::string_view a, const Text &b) { return std::string(a) + b.value_; }
  friend const std::string &format_as(const Text &text) { return text.value_; }
  template <class Stream>
  friend Stream &operator<<(Stream &out, const Text &text) {
    out << text.value_;
    return out;
  }

 private:
  std::string value_;
};

// As the content of an element or of an attribute in double quotes.
std::string xml_escape(std::string_view text);

}  // namespace gpulse
