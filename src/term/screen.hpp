// SPDX-License-Identifier: Apache-2.0
// A screen in memory: a grid of cells with a character and its ink. Needs no terminal. Drawn on by the live view and
// compared by Painter, on one thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "term/ink.hpp"

namespace gpulse::term {

struct Size {
  int columns = 0;
  int rows = 0;
  bool operator==(const Size &) const = default;
};

struct Rect {
  int x = 0, y = 0, columns = 0, rows = 0;

  bool empty() const { return columns <= 0 || rows <= 0; }
  bool contains(int at_x, int at_y) const {
    return at_x >= x && at_y >= y && std::int64_t{at_x} - x < columns && std::int64_t{at_y} - y < rows;
  }
  // The intersection.
  Rect operator&(const Rect &other) const;
  bool operator==(const Rect &) const = default;
};

// One column of one line.
struct ScreenCell {
  // UTF-8 of one character with as many combining marks as fit, padded with zeros; empty: right half of a wide one.
  std::array<char, 7> bytes{' '};
  std::uint8_t length = 1;
  CellInk ink{};

  std::string_view text() const { return {bytes.data(), length}; }
  bool operator==(const ScreenCell &other) const {
    using Bits = std::array<std::uint64_t, 2>;
    return std::bit_cast<Bits>(*this) == std::bit_cast<Bits>(other);
  }
};

// Lines are compared and copied as bytes.
static_assert(std::has_unique_object_representations_v<ScreenCell> && sizeof(ScreenCell) == 16);

class Screen {
 public:
  explicit Screen(Size size = {}) { resize(size); }

  Size size() const { return size_; }
  Rect area() const { return {0, 0, size_.columns, size_.rows}; }
  // Clears it, too.
  void resize(Size size);
  void clear(const Ink &ink = {});

  const ScreenCell &at(int x, int y) const { return cells_[index(x, y)]; }

  // Writes from (x, y) on, inside `clip` and the screen, and returns the width of the whole text, even if it was cut
  // off. The text must be clean (width.hpp). A wide character that would be cut in half leaves a blank.
  int put(int x, int y, std::string_view text, const Ink &ink, const Rect &clip);
  int put(int x, int y, std::string_view text, const Ink &ink) { return put(x, y, text, ink, area()); }
  // A character of the basic plane that is one column wide.
  void put_char(int x, int y, char32_t character, const Ink &ink);
  // Puts the character into every cell.
  void fill(const Rect &where, const Ink &ink, char32_t character = U' ');
  // Changes the background of the cells and adds attributes.
  void highlight(const Rect &where, Tint back, std::uint8_t attributes = 0);

  // For tests: the lines, without trailing blanks.
  std::vector<std::string> lines() const;
  // The same as one text, with a newline after each line.
  std::string text() const;

  // Copies a line from a screen of the same size.
  void copy_row(const Screen &from, int y);
  // A line's cells.
  const ScreenCell *row(int y) const { return &cells_[index(0, y)]; }

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.columns) + static_cast<std::size_t>(x);
  }
  // Null if it is outside.
  ScreenCell *set_cell(std::int64_t x, int y, std::string_view text, const Ink &ink, const Rect &inside);
  // Blanks the other half of a wide character before one half is overwritten.
  void break_wide(int x, int y) {
    if (any_wide_) blank_other_half(x, y);
  }
  void blank_other_half(int x, int y);

  Size size_;
  std::vector<ScreenCell> cells_;
  bool any_wide_ = false;  // without any, nothing can be cut in half
};

// A part of a screen with its own origin; drawing is clipped to it.
class Area {
 public:
  explicit Area(Screen &screen) : Area(screen, screen.area()) {}
  Area(Screen &screen, const Rect &rect) : screen_(&screen), rect_(rect & screen.area()) {}

  int columns() const { return rect_.columns; }
  int rows() const { return rect_.rows; }
  bool empty() const { return rect_.empty(); }
  const Rect &rect() const { return rect_; }
  Screen &screen() const { return *screen_; }
  // A part of this area, in its coordinates.
  Area part(const Rect &rect) const {
    const Rect moved{rect_.x + rect.x, rect_.y + rect.y, rect.columns, rect.rows};
    return Area(*screen_, moved & rect_);
  }
  Area row(int y) const { return part({0, y, columns(), 1}); }

  int put(int x, int y, std::string_view text, const Ink &ink) const {
    return screen_->put(rect_.x + x, rect_.y + y, text, ink, rect_);
  }
  void put_char(int x, int y, char32_t character, const Ink &ink) const {
    if (x >= 0 && y >= 0 && x < columns() && y < rows()) screen_->put_char(rect_.x + x, rect_.y + y, character, ink);
  }
  void fill(const Ink &ink, char32_t character = U' ') const { screen_->fill(rect_, ink, character); }
  void highlight(Tint back, std::uint8_t attributes = 0) const { screen_->highlight(rect_, back, attributes); }

 private:
  Screen *screen_;
  Rect rect_;
};

}  // namespace gpulse::term
