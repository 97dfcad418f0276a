// SPDX-License-Identifier: Apache-2.0
#include "tui/draw_context.hpp"

#include <algorithm>

namespace gpulse::tui {

using term::Area;

namespace {

void draw_box(const Area &area, const Look &look) {
  const auto &ink = look.theme->border;
  const bool unicode = look.unicode();
  const int right = area.columns() - 1;
  const int bottom = area.rows() - 1;
  for (const int y : {0, bottom}) area.part({1, y, right - 1, 1}).fill(ink, unicode ? U'─' : U'-');
  for (const int x : {0, right}) area.part({x, 1, 1, bottom - 1}).fill(ink, unicode ? U'│' : U'|');
  area.put_char(0, 0, unicode ? U'╭' : U'+', ink);
  area.put_char(right, 0, unicode ? U'╮' : U'+', ink);
  area.put_char(0, bottom, unicode ? U'╰' : U'+', ink);
  area.put_char(right, bottom, unicode ? U'╯' : U'+', ink);
}

bool has_box(const Area &area, const Look &look) { return look.boxed && area.rows() >= 3 && area.columns() >= 4; }

term::Rect inside_of(const Area &area, const Look &look) {
  if (has_box(area, look)) return {1, 1, area.columns() - 2, area.rows() - 2};
  const auto &frame = look.frame;
  if (look.boxed || !frame.title) return {0, 0, area.columns(), area.rows()};
  const int side = frame.sides ? 1 : 0;
  const int bottom = frame.sides && frame.last ? 1 : 0;
  return {side, 1, area.columns() - 2 * side, area.rows() - 1 - bottom};
}

// A line above, which is that below the panel before it, and lines at the sides.
void draw_panel_frame(const Area &area, const Look &look) {
  const auto &[title, sides, first, last] = look.frame;
  const auto &ink = look.theme->border;
  const bool unicode = look.unicode();
  const int right = area.columns() - 1;
  const int bottom = area.rows() - 1;
  area.row(0).fill(ink, unicode ? U'─' : U'-');
  if (!sides) return;
  for (const int x : {0, right}) area.part({x, 1, 1, bottom}).fill(ink, unicode ? U'│' : U'|');
  area.put_char(0, 0, !unicode ? U'+' : first ? U'╭' : U'├', ink);
  area.put_char(right, 0, !unicode ? U'+' : first ? U'╮' : U'┤', ink);
  if (!last) return;
  area.row(bottom).fill(ink, unicode ? U'─' : U'-');
  area.put_char(0, bottom, unicode ? U'╰' : U'+', ink);
  area.put_char(right, bottom, unicode ? U'╯' : U'+', ink);
}

void draw_title(const Area &area, const Look &look, std::string_view title, std::string_view note) {
  const int room = area.columns() - 4;
  if (room <= 2) return;
  const auto text = term::cut(title, room - 2, look.style.ellipsis());
  const int used = area.put(2, 0, " " + text + " ", look.theme->title);
  const int left = room - used - 2;
  if (note.empty() || left < 6) return;
  const auto right = " " + term::cut(note, left, look.style.ellipsis()) + " ";
  area.put(area.columns() - 2 - term::width(right), 0, right, look.theme->dim);
}

// `total` is the width of all pieces together.
int put_pieces(const Area &area, int x, int y, const std::vector<term::Span> &spans, const Look &look, int columns,
               int total) {
  int used = 0;
  if (total <= columns) {
    for (const auto &span : spans) used += area.put(x + used, y, span.text, look.ink(span.colour));
    return used;
  }
  const auto ellipsis = look.style.ellipsis();
  for (const auto &span : spans) {
    const int room = columns - used;
    if (room <= 0) break;
    if (used + term::width(span.text) > columns - term::width(ellipsis)) {
      // The pieces after this one do not fit, so it gets the ellipsis even if it would fit itself.
      const auto padded = span.text + std::string(static_cast<std::size_t>(columns), ' ');
      return used + area.put(x + used, y, term::cut(padded, room, ellipsis), look.ink(span.colour));
    }
    used += area.put(x + used, y, span.text, look.ink(span.colour));
  }
  return used;
}

}  // namespace

int put_spans(const Area &area, int x, int y, const std::vector<term::Span> &spans, const Look &look, int columns) {
  return put_pieces(area, x, y, spans, look, columns, term::width(spans));
}

void put_cell(const Area &area, int x, int y, int width, const term::Cell &cell, term::Align align, const Look &look) {
  const int total = term::width(cell.spans);
  const int start = align == term::Align::right ? std::max(0, width - total) : 0;
  put_pieces(area, x + start, y, cell.spans, look, width - start, total);
}

term::Size inner_size(const Area &area, const Look &look) {
  const auto inside = inside_of(area, look);
  return {inside.columns, inside.rows};
}

Area open_panel(const Area &area, const Look &look, std::string_view title, std::string_view note) {
  if (has_box(area, look)) {
    draw_box(area, look);
    draw_title(area, look, title, note);
  } else if (look.frame.title) {
    draw_panel_frame(area, look);
    draw_title(area, look, title, note);
  }
  return area.part(inside_of(area, look));
}

Area open_page(const Area &area, const Look &look, std::string_view title, std::string_view note,
               term::Size boxed_from) {
  Look boxed = look;
  boxed.boxed = area.rows() >= boxed_from.rows && area.columns() >= boxed_from.columns;
  return open_panel(area, boxed, title, note);
}

Area open_window(const Area &area, const Look &look, std::string_view title, int columns, int rows) {
  const int width = std::min(area.columns(), columns + 4);
  const int height = std::min(area.rows(), rows + 2);
  const int x = (area.columns() - width) / 2;
  const int y = (area.rows() - height) / 2;
  const auto window = area.part({x, y, width, height});
  window.fill(look.theme->text);
  const bool framed = width >= 6 && height >= 3;
  if (framed) {
    draw_box(window, look);
    draw_title(window, look, title, {});
  }
  return framed ? area.part({x + 2, y + 1, width - 4, height - 2}) : area.part({x, y, width, height});
}

void draw_scrollbar(const Area &area, const Look &look, std::size_t first, std::size_t seen, std::size_t all) {
  if (seen >= all || area.rows() < 2) return;
  const auto rows = static_cast<std::size_t>(area.rows());
  const auto length = std::max<std::size_t>(1, rows * seen / all);
  // Reaches the bottom exactly when the last line is visible.
  const auto from = (rows - length) * std::min(first, all - seen) / (all - seen);
  for (std::size_t i = 0; i < length; ++i) {
    area.put_char(area.columns() - 1, static_cast<int>(from + i), look.unicode() ? U'▐' : U'#', look.theme->dim);
  }
}

}  // namespace gpulse::tui
