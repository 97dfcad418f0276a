// SPDX-License-Identifier: Apache-2.0
#include "term/painter.hpp"

#include <charconv>
#include <cstring>

#include "term/width.hpp"

namespace gpulse::term {

namespace {

constexpr std::string_view kBegin = "\033[?2026h", kEnd = "\033[?2026l";
constexpr std::string_view kEraseLine = "\033[K";
// Beyond this distance, moving the cursor is never longer than writing the cells again.
constexpr int kLongestRewrite = 6;
constexpr int kMostLineFeeds = 4, kMostBackspaces = 4;

void append_number(std::string &out, int number) {
  std::array<char, 12> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

std::size_t digits(int number) {
  return number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : 1 + digits(number / 10);
}

// A count of one is the default.
void append_motion(std::string &out, int count, char final) {
  out += "\033[";
  if (count != 1) append_number(out, count);
  out += final;
}

std::size_t motion_bytes(int count) { return 3 + (count != 1 ? digits(count) : 0); }

bool is_blank(const ScreenCell &cell) { return cell.length == 1 && cell.bytes[0] == ' '; }
bool is_right_half(const ScreenCell &cell) { return cell.length == 0; }

// Whether a blank in this ink shows only the background.
bool plain_on_blanks(CellInk ink) { return (ink.attributes() & (kUnderline | kReverse)) == 0; }

bool same_on_blanks(CellInk a, CellInk b) { return a.back() == b.back() && plain_on_blanks(a) && plain_on_blanks(b); }

bool looks_same(const ScreenCell &a, const ScreenCell &b, Depth depth) {
  if (is_right_half(a) || is_right_half(b)) return a.length == b.length;
  if (a == b) return true;
  if (a.text() != b.text()) return false;
  if (is_blank(a) && same_on_blanks(a.ink, b.ink)) return true;
  if (depth == Depth::direct) return false;
  const CellInk shown_a = shown_as(Ink(a.ink), depth), shown_b = shown_as(Ink(b.ink), depth);
  return shown_a == shown_b || (is_blank(a) && same_on_blanks(shown_a, shown_b));
}

// Whether the current ink shows the cell as its own ink would.
bool ink_serves(CellInk set, const ScreenCell &cell) {
  return set == cell.ink || (is_blank(cell) && same_on_blanks(set, cell.ink));
}

std::size_t change_place(CellInk from, CellInk to) {
  return (from.bits() * 0x9E3779B97F4A7C15U + to.bits() * 0xC2B2AE3D27D4EB4FU) >> 48U;
}

// A blank on the default background, which is what every terminal leaves after erasing.
bool is_erased(const ScreenCell &cell) { return is_blank(cell) && same_on_blanks(cell.ink, {}); }

// Whether all terminals agree that the cell is one column wide: European letters, lines, blocks, braille.
bool surely_one_column(const ScreenCell &cell) {
  if (cell.length == 1) return true;
  const Glyph glyph = first_glyph(cell.text());
  if (glyph.bytes != cell.length || glyph.columns != 1) return false;
  const auto code = glyph.code;
  return code < 0x300 || (code >= 0x370 && code < 0x530) || (code >= 0x2010 && code < 0x2028) ||
         (code >= 0x2070 && code < 0x2094) || (code >= 0x2190 && code < 0x2194) || (code >= 0x2500 && code < 0x25A0) ||
         (code >= 0x2800 && code < 0x2900);
}

}  // namespace

void Painter::set_depth(Depth depth) {
  if (depth == depth_) return;
  forget();
  changes_ = {};
  depth_ = depth;
}

void Painter::paint(const Screen &wanted, std::string &out) {
  const auto start = out.size();
  out += kBegin;
  if (!known_ || wanted.size() != shown_.size()) {
    out += "\033[m\033[H\033[J";
    ink_ = {};
    x_ = y_ = 0;
    shown_.resize(wanted.size());
    known_ = true;
  }
  for (int y = 0; y < wanted.size().rows; ++y) paint_row(wanted, y, out);
  if (out.size() == start + kBegin.size()) {
    out.resize(start);
  } else {
    out += kEnd;
  }
}

void Painter::paint_row(const Screen &wanted, int y, std::string &out) {
  const int columns = wanted.size().columns;
  if (columns == 0) return;
  const ScreenCell *cells = wanted.row(y);
  const ScreenCell *old = shown_.row(y);
  if (std::memcmp(cells, old, static_cast<std::size_t>(columns) * sizeof(ScreenCell)) == 0) return;
  paint_changes(wanted, y, out);
  shown_.copy_row(wanted, y);
}

void Painter::paint_changes(const Screen &wanted, int y, std::string &out) {
  const int columns = wanted.size().columns;
  const ScreenCell *cells = wanted.row(y);
  const ScreenCell *old = shown_.row(y);
  int tail = columns;  // from here on the row is blank
  while (tail > 0 && is_erased(cells[tail - 1])) --tail;
  int changed_in_tail = 0;
  int first_in_tail = columns;
  for (int x = columns - 1; x >= tail; --x) {
    if (cells[x] == old[x] || looks_same(cells[x], old[x], depth_)) continue;
    ++changed_in_tail;
    first_in_tail = x;
  }
  const bool erase = changed_in_tail > static_cast<int>(kEraseLine.size());
  const int end = erase ? tail : columns;
  for (int x = 0; x < end; ++x) {
    if (cells[x] == old[x] || looks_same(cells[x], old[x], depth_) || is_right_half(cells[x])) continue;
    move_to(wanted, x, y, out);
    write_cell(cells[x], columns, out);
  }
  if (!erase) return;
  move_to(wanted, first_in_tail, y, out);
  set_ink(cells[first_in_tail], out);
  out += kEraseLine;
}

void Painter::set_ink(const ScreenCell &cell, std::string &out) {
  if (ink_serves(ink_, cell)) return;
  // The same few changes recur in every line of every frame.
  auto &change = changes_[change_place(ink_, cell.ink) % changes_.size()];
  if (change.bytes.empty() || change.from != ink_ || change.to != cell.ink) {
    change = {ink_, cell.ink, {}};
    write_ink(change.bytes, Ink(ink_), Ink(cell.ink), depth_);
  }
  out += change.bytes;
  ink_ = cell.ink;
}

void Painter::write_cell(const ScreenCell &cell, int columns, std::string &out) {
  set_ink(cell, out);
  auto text = cell.text();
  if (text.size() > 1) {
    // In the last column some terminals attach a combining mark to another cell.
    const Glyph glyph = first_glyph(text);
    if (x_ + glyph.columns >= columns) text = text.substr(0, glyph.bytes);
  }
  out += text;
  ++x_;
  // After the last column terminals disagree about where the cursor is.
  if (x_ >= columns || !surely_one_column(cell)) x_ = -1;
}

bool Painter::rewrite_to(const Screen &wanted, int x, std::size_t shorter_than, std::string &out) const {
  if (x - x_ > kLongestRewrite) return false;
  const ScreenCell *cells = wanted.row(y_);
  std::size_t bytes = 0;
  for (int at = x_; at < x; ++at) {
    bytes += cells[at].length;
    if (!ink_serves(ink_, cells[at]) || is_right_half(cells[at]) || !surely_one_column(cells[at])) return false;
  }
  if (bytes >= shorter_than) return false;
  for (int at = x_; at < x; ++at) out += cells[at].text();
  return true;
}

void Painter::move_to(const Screen &wanted, int x, int y, std::string &out) {
  if (x == x_ && y == y_) return;
  // A line feed keeps the column, because the output is not translated.
  const bool below = y_ >= 0 && y >= y_ && y - y_ <= kMostLineFeeds;
  const std::size_t down = below ? static_cast<std::size_t>(y - y_) : 0;
  enum class Way : std::uint8_t { absolute, along, near, column } way = Way::absolute;
  std::size_t best = 3 + (y > 0 ? digits(y + 1) : 0) + (x > 0 ? 1 + digits(x + 1) : 0);
  const auto offer = [&](Way other, std::size_t bytes) {
    if (bytes >= best) return;
    way = other;
    best = bytes;
  };
  if (below) offer(Way::along, 1 + down + (x > 0 ? motion_bytes(x) : 0));
  if (below && x_ >= 0 && x_ - x <= kMostBackspaces) {
    offer(Way::near, down + (x < x_ ? static_cast<std::size_t>(x_ - x) : x > x_ ? motion_bytes(x - x_) : 0));
  }
  if (y == y_) offer(Way::column, motion_bytes(x + 1));
  const bool rewritten = y == y_ && x_ >= 0 && x > x_ && rewrite_to(wanted, x, best + 1, out);
  if (!rewritten) {
    switch (way) {
      case Way::absolute:
        out += "\033[";
        if (y > 0) append_number(out, y + 1);
        if (x > 0) {
          out += ';';
          append_number(out, x + 1);
        }
        out += 'H';
        break;
      case Way::along:
        out += '\r';
        out.append(down, '\n');
        if (x > 0) append_motion(out, x, 'C');
        break;
      case Way::near:
        out.append(down, '\n');
        if (x < x_) out.append(static_cast<std::size_t>(x_ - x), '\b');
        if (x > x_) append_motion(out, x - x_, 'C');
        break;
      case Way::column:
        append_motion(out, x + 1, 'G');
        break;
    }
  }
  x_ = x;
  y_ = y;
}

}  // namespace gpulse::term
