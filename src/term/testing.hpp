// SPDX-License-Identifier: Apache-2.0
// A terminal in memory for tests and fuzzers. It understands what Painter writes and nothing else; it wraps at the
// edge, scrolls at the bottom and erases to the default background, as the most basic terminals do.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "term/screen.hpp"
#include "term/width.hpp"

namespace gpulse::term {

class Emulator {
 public:
  struct Cell {
    std::string text = "?";
    Ink ink{.fore = Tint::ansi(5)};
  };
  // `widest`: 1 for a terminal without wide characters.
  explicit Emulator(Size size, int widest = 2) : widest_(widest) { resize(size); }

  // Fills the terminal with something unknown.
  void resize(Size size) {
    size_ = size;
    cells_.assign(static_cast<std::size_t>(size.columns) * static_cast<std::size_t>(size.rows), Cell{});
    x_ = y_ = 0;
    wrap_pending_ = false;
  }

  // The first thing it did not understand, or need not have; empty: none.
  const std::string &complaint() const { return complaint_; }
  int frames_open() const { return frames_open_; }

  void feed(std::string_view bytes) {
    while (!bytes.empty() && complaint_.empty()) {
      if (bytes.starts_with("\033[")) {
        const auto end = bytes.find_first_not_of("0123456789;?", 2);
        if (end == std::string_view::npos) return complain("a sequence without end");
        control(bytes.substr(2, end - 2), bytes[end]);
        bytes.remove_prefix(end + 1);
      } else {
        const Glyph glyph = first_glyph(bytes);
        if (glyph.code < 0x20) {
          move_by_code(bytes[0]);
        } else {
          print(bytes.substr(0, glyph.bytes), std::min(glyph.columns, widest_));
        }
        bytes.remove_prefix(glyph.bytes);
      }
    }
  }

  // Where it differs from the screen as that depth shows it; empty: nowhere. Wide characters may be passed over.
  std::string difference(const Screen &wanted, Depth depth, bool wide_too = true) const {
    if (!complaint_.empty()) return complaint_;
    for (int y = 0; y < size_.rows; ++y) {
      for (int x = 0; x < size_.columns; ++x) {
        const ScreenCell &cell = wanted.at(x, y);
        const bool wide = cell.length == 0 || (x + 1 < size_.columns && wanted.at(x + 1, y).length == 0);
        if (wide && !wide_too) continue;
        const bool at_edge = x + (wide ? 2 : 1) >= size_.columns;
        if (!same(cell, at(x, y), depth, at_edge)) {
          return fmt::format("({}, {}): shows '{}' in {}, wanted '{}' in {}", x, y, at(x, y).text,
                             described(at(x, y).ink), cell.text(), described(shown_as(Ink(cell.ink), depth)));
        }
      }
    }
    return {};
  }

 private:
  const Cell &at(int x, int y) const {
    return cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.columns) + static_cast<std::size_t>(x)];
  }
  Cell &at(int x, int y) { return const_cast<Cell &>(std::as_const(*this).at(x, y)); }

  static std::string described(const Ink &ink) {
    return fmt::format("{:x}{}/{:x}{}/{}", ink.fore.value(), ink.fore.is_ansi() ? "a" : "", ink.back.value(),
                       ink.back.is_ansi() ? "a" : "", ink.attributes);
  }

  // At the edge a character is shown without its marks.
  static bool same(const ScreenCell &wanted, const Cell &shown, Depth depth, bool at_edge) {
    const auto text = wanted.text();
    if ((at_edge && !text.empty() ? text.substr(0, first_glyph(text).bytes) : text) != shown.text) return false;
    if (wanted.length == 0) return true;  // its ink is that of the left half
    const Ink ink = shown_as(Ink(wanted.ink), depth);
    // A reader sees no more of a blank than its background, a line or the reversal.
    constexpr int kSeen = kUnderline | kReverse;
    if (shown.text == " " && ((ink.attributes | shown.ink.attributes) & kSeen) == 0) return ink.back == shown.ink.back;
    return ink == shown.ink;
  }

  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }

  void move_by_code(char code) {
    if (code == '\r') {
      x_ = 0;
    } else if (code == '\n') {
      if (++y_ >= size_.rows) complain("the screen scrolls");
    } else if (code == '\b') {
      if (wrap_pending_ || x_ == 0) complain("a backspace where terminals differ");
      --x_;
    } else {
      complain("an unknown control code");
    }
    wrap_pending_ = false;
  }

  void erase(int x, int y) { at(x, y) = {" ", Ink{}}; }

  // Half a wide character is none.
  void break_wide(int x, int y) {
    if (at(x, y).text.empty() && x > 0) at(x - 1, y) = {" ", at(x - 1, y).ink};
    if (x + 1 < size_.columns && at(x + 1, y).text.empty()) at(x + 1, y) = {" ", at(x + 1, y).ink};
  }

  void print(std::string_view text, int columns) {
    if (columns == 0) {
      if (wrap_pending_ || x_ == 0) return complain("a mark where terminals differ");
      at(at(x_ - 1, y_).text.empty() ? x_ - 2 : x_ - 1, y_).text += text;
      return;
    }
    if (wrap_pending_ || x_ + columns > size_.columns) return complain("text goes over the edge");
    break_wide(x_, y_);
    if (columns == 2) break_wide(x_ + 1, y_);
    at(x_, y_) = {std::string(text), ink_};
    if (columns == 2) at(x_ + 1, y_) = {"", ink_};
    x_ += columns;
    wrap_pending_ = x_ >= size_.columns;
    if (wrap_pending_) x_ = size_.columns - 1;
  }

  void control(std::string_view body, char final) {
    const bool mode = body.starts_with('?');
    if (mode) {
      if (body != "?2026" || (final != 'h' && final != 'l')) return complain("an unknown mode");
      frames_open_ += final == 'h' ? 1 : -1;
      return;
    }
    std::vector<int> numbers;
    for (const auto piece : split(body, ';')) numbers.push_back(parse_integer<int>(piece).value_or(0));
    if (final == 'm') return set_ink(numbers);
    move_or_erase(numbers, final);
  }

  void move_or_erase(const std::vector<int> &numbers, char final) {
    const auto count = [&numbers](std::size_t i) { return i < numbers.size() ? std::max(numbers[i], 1) : 1; };
    const bool bare = numbers.empty() || (numbers.size() == 1 && numbers[0] == 0);
    const bool relative = final == 'C' || final == 'B';
    if (relative && wrap_pending_) complain("a step from where terminals differ");
    if (final == 'H') {
      y_ = count(0) - 1;
      x_ = count(1) - 1;
    } else if (final == 'G') {
      x_ = count(0) - 1;
    } else if (final == 'C') {
      x_ += count(0);
    } else if (final == 'B') {
      y_ += count(0);
    } else if (final == 'K' && bare) {
      if (!ink_.back.is_default()) complain("erases with a background that not all terminals use");
      for (int x = x_; x < size_.columns && size_.rows > 0; ++x) erase(x, y_);
      return;
    } else if (final == 'J' && bare) {
      if (x_ != 0 || y_ != 0 || !(ink_ == Ink{})) complain("clears from elsewhere, or in colour");
      std::fill(cells_.begin(), cells_.end(), Cell{" ", {}});
      return;
    } else {
      return complain("an unknown sequence");
    }
    wrap_pending_ = false;
    if ((x_ >= size_.columns || y_ >= size_.rows) && !(x_ == 0 && y_ == 0)) complain("moves off the screen");
  }

  static Tint indexed(int number) {
    if (number < 16) return Tint::ansi(static_cast<std::uint8_t>(number));
    if (number >= 232) return Tint::rgb(static_cast<std::uint32_t>(8 + 10 * (number - 232)) * 0x010101U);
    const auto level = [](int step) { return static_cast<std::uint32_t>(step == 0 ? 0 : 55 + 40 * step); };
    const int cube = number - 16;
    return Tint::rgb(level(cube / 36) << 16U | level(cube / 6 % 6) << 8U | level(cube % 6));
  }

  // Gives how many of the numbers it took.
  std::size_t set_mixture(Tint &tint, const std::vector<int> &numbers, std::size_t at) {
    if (at + 2 < numbers.size() && numbers[at + 1] == 5) {
      tint = indexed(numbers[at + 2]);
      return 3;
    }
    if (at + 4 < numbers.size() && numbers[at + 1] == 2) {
      const auto part = [&numbers](std::size_t i) { return static_cast<std::uint32_t>(numbers[i]); };
      tint = Tint::rgb(part(at + 2) << 16U | part(at + 3) << 8U | part(at + 4));
      return 5;
    }
    complain("an unknown colour");
    return 1;
  }

  void set_ink(const std::vector<int> &numbers) {
    if (numbers.empty()) ink_ = {};
    for (std::size_t i = 0; i < numbers.size();) {
      const int number = numbers[i];
      if (number == 38 || number == 48) {
        i += set_mixture(number == 38 ? ink_.fore : ink_.back, numbers, i);
        continue;
      }
      set_simple(number);
      ++i;
    }
  }

  void set_simple(int number) {
    const auto in = [number](int first) { return number >= first && number < first + 8; };
    const auto tint = [number](int first) { return Tint::ansi(static_cast<std::uint8_t>(number - first)); };
    const auto on = [this](unsigned bits) { ink_.attributes = static_cast<std::uint8_t>(ink_.attributes | bits); };
    const auto off = [this](unsigned bits) { ink_.attributes = static_cast<std::uint8_t>(ink_.attributes & ~bits); };
    if (number == 0)
      ink_ = {};
    else if (number == 1)
      on(kBold);
    else if (number == 2)
      on(kDim);
    else if (number == 3)
      on(kItalic);
    else if (number == 4)
      on(kUnderline);
    else if (number == 7)
      on(kReverse);
    else if (number == 22)
      off(kBold | kDim);
    else if (number == 23)
      off(kItalic);
    else if (number == 24)
      off(kUnderline);
    else if (number == 27)
      off(kReverse);
    else if (in(30))
      ink_.fore = tint(30);
    else if (number == 39)
      ink_.fore = {};
    else if (in(40))
      ink_.back = tint(40);
    else if (number == 49)
      ink_.back = {};
    else if (in(90))
      ink_.fore = tint(82);
    else if (in(100))
      ink_.back = tint(92);
    else
      complain("an unknown attribute");
  }

  Size size_;
  int widest_;
  std::vector<Cell> cells_;
  Ink ink_{};
  int x_ = 0, y_ = 0;
  bool wrap_pending_ = false;
  int frames_open_ = 0;
  std::string complaint_;
};

}  // namespace gpulse::term
