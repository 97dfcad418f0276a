// SPDX-License-Identifier: Apache-2.0
// What every panel draws from and with: the sample on the screen, the look, and the places that react to the mouse.
// Made for each frame on the UI thread.
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

// The lines around a panel: a title above it, and, where one frame holds all panels, lines at its sides.
struct PanelFrame {
  bool title = false;
  bool sides = false;
  bool first = false;  // corners at its top
  bool last = false;   // and at its bottom
};

struct Look {
  const Theme *theme;
  term::Style style;       // for the functions of src/view
  bool boxed = false;      // a frame of its own, as pages have it
  PanelFrame frame{};      // else this one
  bool two_lines = false;  // per device

  bool unicode() const { return style.unicode; }
  term::Ink ink(term::Colour colour) const { return tui::ink(*theme, colour); }
};

// A place on the screen that reacts to the mouse.
struct Hit {
  enum class Kind : std::uint8_t { device, process, column, key, item, tab, panel, finding, device_column, event };
  term::Rect where;
  Kind kind;
  std::size_t value = 0;  // device, process, column, item, tab: place in its list; key: place in the key bar; panel:
                          // Panel; device_column: see device_columns.hpp; event: its place from the newest
};

struct DrawContext {
  const Snapshot &snapshot;
  std::uint64_t number;  // of the sample
  const Settings &settings;
  const Look &look;
  const PlotHistory &history;
  std::optional<DeviceId> device;  // the chosen one
  std::vector<Hit> &hits;
  bool clock_times = false;  // what is shown is not now, so that times of day say more than how long ago it was
};

// Puts the pieces side by side and returns the columns used. What does not fit in `columns` ends in an ellipsis.
int put_spans(const term::Area &area, int x, int y, const std::vector<term::Span> &spans, const Look &look,
              int columns);
// A cell of a table: cut or padded to the width.
void put_cell(const term::Area &area, int x, int y, int width, const term::Cell &cell, term::Align align,
              const Look &look);

// Draws the frame of a panel, if the look has frames, and returns the area inside. `note` is put at the right.
term::Area open_panel(const term::Area &area, const Look &look, std::string_view title, std::string_view note = {});
// The size of the area inside.
term::Size inner_size(const term::Area &area, const Look &look);
// The frame of a page, on screens of at least that size.
term::Area open_page(const term::Area &area, const Look &look, std::string_view title, std::string_view note,
                     term::Size boxed_from = {40, 8});

// A window with a frame in the middle of the screen, cleared; returns the area inside.
term::Area open_window(const term::Area &area, const Look &look, std::string_view title, int columns, int rows);

// Columns left for a list that may need a scrollbar.
inline int beside_scrollbar(int columns, std::size_t seen, std::size_t all) {
  return seen < all ? columns - 1 : columns;
}
// Shows at the right edge which part of a longer list is visible.
void draw_scrollbar(const term::Area &area, const Look &look, std::size_t first, std::size_t seen, std::size_t all);

}  // namespace gpulse::tui
