// SPDX-License-Identifier: Apache-2.0
// Updates a terminal from what it shows to what it should show, with as few bytes as possible. The terminal's output
// must not be translated (OPOST off), so that a line feed keeps the column. Called by the loop of the live view, on its
// thread.
#pragma once

#include <array>
#include <string>

#include "term/screen.hpp"

namespace gpulse::term {

class Painter {
 public:
  explicit Painter(Depth depth) : depth_(depth) {}

  // Appends the bytes, none if nothing has changed. A screen of another size is drawn completely.
  void paint(const Screen &wanted, std::string &out);
  // The terminal may show anything now: draw everything next time.
  void forget() { known_ = false; }
  void set_depth(Depth depth);

 private:
  void paint_row(const Screen &wanted, int y, std::string &out);
  void paint_changes(const Screen &wanted, int y, std::string &out);
  void move_to(const Screen &wanted, int x, int y, std::string &out);
  // Moves by writing the cells in between again, if that is shorter.
  bool rewrite_to(const Screen &wanted, int x, std::size_t shorter_than, std::string &out) const;
  void set_ink(const ScreenCell &cell, std::string &out);
  void write_cell(const ScreenCell &cell, int columns, std::string &out);

  Depth depth_;
  Screen shown_;
  bool known_ = false;
  // Position of the cursor and its ink; -1: unknown.
  int x_ = -1, y_ = -1;
  CellInk ink_{};

  struct Change {
    CellInk from{}, to{};
    std::string bytes{};  // empty: not computed yet
  };
  std::array<Change, 128> changes_{};
};

}  // namespace gpulse::term
