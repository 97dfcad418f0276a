// SPDX-License-Identifier: Apache-2.0
// What every panel draws from and with: the sample on the screen, the look, and where a mouse would hit what.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "term/screen.hpp"
#include "term/table.hpp"
#include "tui/plot_history.hpp"
#include "tui/process_list.hpp"
#include "tui/settings.hpp"
#include "tui/theme.hpp"

namespace gpulse::tui {

struct Look {
  const Theme *theme;
  term::Style style;       // what the views are told
  bool boxed = false;      // panels have a frame
  bool two_lines = false;  // per device

  bool unicode() const { return style.unicode; }
  term::Ink ink(term::Colour colour) const { return tui::ink(*theme, colour); }
};

// Something on the screen that a mouse can be pointed at.
struct Hit {
  enum class Kind : std::uint8_t { device, process, column, key, item, tab, panel };
  term::Rect where;
  Kind kind;
  std::size_t value = 0;  // device: index; process, column, item, tab: place in its list; key: Action; panel: Panel
};

struct DrawContext {
  const Snapshot &snapshot;
  std::uint64_t number;  // of the sample
  const Settings &settings;
  const Look &look;
  const PlotHistory &history;
  std::optional<std::uint32_t> device;  // the one that was chosen
  std::vector<Hit> &hits;
};

// The pieces one after the other; gives the columns used. What goes beyond `columns` ends in an ellipsis.
int put_spans(const term::Area &area, int x, int y, const std::vector<term::Span> &spans, const Look &look,
              int columns);
// A cell of a table: cut or padded to the width.
void put_cell(const term::Area &area, int x, int y, int width, const term::Cell &cell, term::Align align,
              const Look &look);

// Draws a panel's frame (a box where there is room, else nothing) and gives what is inside. `note` stands at the right.
term::Area open_panel(const term::Area &area, const Look &look, std::string_view title, std::string_view note = {});
// The frame of a page, on screens of at least that size.
term::Area open_page(const term::Area &area, const Look &look, std::string_view title, std::string_view note,
                     term::Size boxed_from = {40, 8});

// A window over the screen, in its middle, with a box around it; blank inside.
term::Area open_window(const term::Area &area, const Look &look, std::string_view title, int columns, int rows);

// What is left for a list that may need a mark of its own at the right edge.
inline int beside_scrollbar(int columns, std::size_t seen, std::size_t all) {
  return seen < all ? columns - 1 : columns;
}
// A mark at the right edge that shows which part of a longer list is seen.
void draw_scrollbar(const term::Area &area, const Look &look, std::size_t first, std::size_t seen, std::size_t all);

}  // namespace gpulse::tui
