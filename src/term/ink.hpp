// SPDX-License-Identifier: Apache-2.0
// The colour of a cell, and the bytes that make a terminal use it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpulse::term {

// How many colours a terminal can show.
enum class Depth : std::uint8_t { mono, ansi16, indexed256, direct };

// A colour: the terminal's default, one of its 16, or an RGB value, which is approximated where the depth requires it.
class Tint {
 public:
  constexpr Tint() = default;
  static constexpr Tint ansi(std::uint8_t number) { return Tint(kAnsi | (number & 15U)); }
  static constexpr Tint rgb(std::uint32_t rrggbb) { return Tint(kRgb | (rrggbb & 0xFFFFFFU)); }

  constexpr bool is_default() const { return bits_ == 0; }
  constexpr bool is_ansi() const { return (bits_ & kKind) == kAnsi; }
  constexpr bool is_rgb() const { return (bits_ & kKind) == kRgb; }
  constexpr std::uint32_t value() const { return bits_ & 0xFFFFFFU; }  // one of the 16, or rrggbb
  constexpr bool operator==(const Tint &) const = default;

 private:
  friend class CellInk;
  static constexpr std::uint32_t kAnsi = 1U << 24U, kRgb = 2U << 24U, kKind = 3U << 24U;
  constexpr explicit Tint(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

// Bits of Ink::attributes.
inline constexpr std::uint8_t kBold = 1, kDim = 2, kItalic = 4, kUnderline = 8, kReverse = 16;

struct Ink {
  Tint fore{};
  Tint back{};
  std::uint8_t attributes = 0;

  constexpr bool operator==(const Ink &) const = default;
  constexpr Ink with(std::uint8_t more) const { return {fore, back, static_cast<std::uint8_t>(attributes | more)}; }
  constexpr Ink on(Tint other_back) const { return {fore, other_back, attributes}; }
};

// An ink packed into one number, because cells are compared and copied by the thousand.
class CellInk {
 public:
  constexpr CellInk() = default;
  constexpr CellInk(const Ink &ink)  // NOLINT(google-explicit-constructor): the same in another form
      : bits_(ink.fore.bits_ | std::uint64_t{ink.back.bits_} << kBack | std::uint64_t{ink.attributes} << kAttributes) {}

  constexpr Tint fore() const { return Tint(bits_ & kTint); }
  constexpr Tint back() const { return Tint(bits_ >> kBack & kTint); }
  constexpr std::uint8_t attributes() const { return static_cast<std::uint8_t>(bits_ >> kAttributes); }
  constexpr explicit operator Ink() const { return {fore(), back(), attributes()}; }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool operator==(const CellInk &) const = default;

 private:
  static constexpr unsigned kBack = 26, kAttributes = 52;
  static constexpr std::uint32_t kTint = (1U << kBack) - 1;
  std::uint64_t bits_ = 0;
};

// The ink as a terminal of that depth shows it: RGB values become the nearest colours it has.
Ink shown_as(const Ink &ink, Depth depth);

// Appends the shortest single sequence that changes the ink from `from` to `to`, with or without a reset. On a mono
// terminal only attributes are set.
void write_ink(std::string &out, const Ink &from, const Ink &to, Depth depth);

// `term` and `colorterm` are the environment variables.
Depth depth_for(std::string_view term, std::string_view colorterm);

// A colour between two: 0 is `a`, 1 is `b`. Where one is not RGB, the nearer of the two.
Tint blend(Tint a, Tint b, double share);

}  // namespace gpulse::term
