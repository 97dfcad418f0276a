// SPDX-License-Identifier: Apache-2.0
#include "term/screen.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "term/width.hpp"

namespace gpulse::term {

namespace {

ScreenCell blank(CellInk ink) { return {.ink = ink}; }

ScreenCell one_column(char32_t character, CellInk ink) {
  ScreenCell cell{.bytes = {}, .length = 0, .ink = ink};
  cell.length = static_cast<std::uint8_t>(encode_utf8(character, std::span(cell.bytes).first<4>()));
  return cell;
}

void set_text(ScreenCell &cell, std::string_view text) {
  cell.bytes = {};
  std::memcpy(cell.bytes.data(), text.data(), text.size());
  cell.length = static_cast<std::uint8_t>(text.size());
}

// A mark that does not fit is left out.
void join(ScreenCell &cell, std::string_view mark) {
  if (cell.length == 0 || cell.length + mark.size() > cell.bytes.size()) return;
  std::memcpy(cell.bytes.data() + cell.length, mark.data(), mark.size());
  cell.length = static_cast<std::uint8_t>(cell.length + mark.size());
}

int saturated(std::int64_t value) { return static_cast<int>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX)); }

}  // namespace

Rect Rect::operator&(const Rect &other) const {
  const auto end = [](int start, int length) { return std::int64_t{start} + std::max(length, 0); };
  const int left = std::max(x, other.x), top = std::max(y, other.y);
  const auto right = std::min(end(x, columns), end(other.x, other.columns));
  const auto bottom = std::min(end(y, rows), end(other.y, other.rows));
  return {left, top, saturated(std::max<std::int64_t>(right - left, 0)),
          saturated(std::max<std::int64_t>(bottom - top, 0))};
}

void Screen::resize(Size size) {
  size_ = {std::max(size.columns, 0), std::max(size.rows, 0)};
  cells_.assign(index(0, size_.rows), ScreenCell{});
}

void Screen::clear(const Ink &ink) {
  // Copying bytes is faster than constructing cells.
  std::fill_n(cells_.begin(), size_.rows > 0 ? size_.columns : 0, blank(ink));
  for (std::size_t done = static_cast<std::size_t>(size_.columns); done > 0 && done < cells_.size();) {
    const auto more = std::min(done, cells_.size() - done);
    std::copy_n(cells_.begin(), more, cells_.begin() + static_cast<std::ptrdiff_t>(done));
    done += more;
  }
  any_wide_ = false;
}

void Screen::blank_other_half(int x, int y) {
  const auto here = index(x, y);
  const auto make_blank = [this](std::size_t at) { cells_[at] = blank(cells_[at].ink); };
  if (cells_[here].length == 0) {
    make_blank(here);
    if (x > 0) make_blank(here - 1);
  } else if (x + 1 < size_.columns && cells_[here + 1].length == 0) {
    make_blank(here + 1);
  }
}

ScreenCell *Screen::set_cell(std::int64_t x, int y, std::string_view text, const Ink &ink, const Rect &inside) {
  if (x < inside.x || x - inside.x >= inside.columns) return nullptr;
  const int column = static_cast<int>(x);
  break_wide(column, y);
  ScreenCell &cell = cells_[index(column, y)];
  set_text(cell, text);
  cell.ink = ink;
  return &cell;
}

int Screen::put(int x, int y, std::string_view text, const Ink &ink, const Rect &clip) {
  const Rect inside = clip & area();
  if (!inside.contains(inside.x, y)) return width(text);
  const std::int64_t end = std::int64_t{inside.x} + inside.columns;
  std::int64_t column = x;
  const CellInk cell_ink = ink;
  ScreenCell *last = nullptr;  // cell that a combining mark goes to; null: none
  while (!text.empty()) {
    if (const char lead = text[0]; lead >= 0x20 && lead < 0x7F) {
      text.remove_prefix(1);
      last = nullptr;
      if (column >= inside.x && column < end) {
        break_wide(static_cast<int>(column), y);
        last = &cells_[index(static_cast<int>(column), y)];
        *last = {.bytes = {lead}, .length = 1, .ink = cell_ink};
      }
      ++column;
      continue;
    }
    const Glyph glyph = first_glyph(text);
    const auto bytes = text.substr(0, glyph.bytes);
    text.remove_prefix(glyph.bytes);
    if (glyph.columns == 0) {
      if (last != nullptr && glyph.code >= 0x300) join(*last, bytes);
      continue;
    }
    if (glyph.columns == 1) {
      last = set_cell(column, y, bytes, ink, inside);
    } else if (column >= inside.x && column + 1 < end) {
      set_cell(column + 1, y, " ", ink, inside);
      last = set_cell(column, y, bytes, ink, inside);
      cells_[index(static_cast<int>(column) + 1, y)].length = 0;
      any_wide_ = true;
    } else {
      set_cell(column, y, " ", ink, inside);
      set_cell(column + 1, y, " ", ink, inside);
      last = nullptr;
    }
    column += glyph.columns;
  }
  return saturated(column - x);
}

void Screen::put_char(int x, int y, char32_t character, const Ink &ink) {
  if (!area().contains(x, y)) return;
  break_wide(x, y);
  cells_[index(x, y)] = one_column(character, ink);
}

void Screen::copy_row(const Screen &from, int y) {
  any_wide_ = any_wide_ || from.any_wide_;
  std::copy_n(from.row(y), size_.columns, cells_.begin() + static_cast<std::ptrdiff_t>(index(0, y)));
}

void Screen::fill(const Rect &where, const Ink &ink, char32_t character) {
  const Rect inside = where & area();
  if (inside.empty()) return;
  const auto cell = one_column(character, ink);
  for (int y = inside.y; y < inside.y + inside.rows; ++y) {
    break_wide(inside.x, y);
    break_wide(inside.x + inside.columns - 1, y);
    std::fill_n(cells_.begin() + static_cast<std::ptrdiff_t>(index(inside.x, y)), inside.columns, cell);
  }
}

void Screen::highlight(const Rect &where, Tint back, std::uint8_t attributes) {
  const Rect inside = where & area();
  for (int y = inside.y; y < inside.y + inside.rows; ++y) {
    for (int x = inside.x; x < inside.x + inside.columns; ++x) {
      CellInk &ink = cells_[index(x, y)].ink;
      ink = Ink(ink).on(back).with(attributes);
    }
  }
}

std::vector<std::string> Screen::lines() const {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(size_.rows));
  for (int y = 0; y < size_.rows; ++y) {
    std::string line;
    for (int x = 0; x < size_.columns; ++x) line += at(x, y).text();
    line.resize(line.find_last_not_of(' ') + 1);
    all.push_back(std::move(line));
  }
  return all;
}

std::string Screen::text() const {
  std::string all;
  for (const auto &line : lines()) {
    all += line;
    all += '\n';
  }
  return all;
}

}  // namespace gpulse::term
