// SPDX-License-Identifier: Apache-2.0
// A table of text that fits a width: columns are as wide as their content; where there is room some grow, where there
// is not some shrink and then some go (fit.hpp). Values may have any length. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "term/style.hpp"
#include "term/width.hpp"

namespace gpulse::term {

struct Cell {
  std::vector<Span> spans = {};
  // A bar that fills the column, in place of the spans.
  std::optional<double> bar = std::nullopt;
  Colour bar_colour = Colour::plain;

  Cell() = default;
  Cell(std::string text, Colour colour = Colour::plain)  // NOLINT(google-explicit-constructor): text is a cell
  {
    spans.push_back({std::move(text), colour});
  }
};

struct Column {
  std::string title;
  Align align = Align::left;
  int gap = 1;       // blanks before it
  int floor = 0;     // minimum width, so that a table that is drawn repeatedly does not jump
  int min = 0;       // may shrink down to this; 0: it does not shrink
  int cap = 0;       // wants no more than this at first, even if its content is wider; 0: no limit
  int grow_to = 0;   // grows up to this, or to its content, where there is room
  int keep = kMust;  // where there is no room the column with the lowest goes first

  static constexpr int kMust = 1000;
  // Columns below this go before any other shrinks.
  static constexpr int kSpare = 100;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> cells) { rows_.push_back({std::move(cells), {}, false}); }
  // These cells, then one that takes the rest of the line.
  void add(std::vector<Cell> cells, Cell rest) { rows_.push_back({std::move(cells), std::move(rest), true}); }
  std::size_t size() const { return rows_.size(); }

  // Which columns are shown.
  std::vector<bool> kept(const Style &style) const;
  // Titles first, then one line per row, none wider than the style allows.
  std::vector<std::string> lines(const Style &style) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    Cell rest;
    bool has_rest;
  };

  // Width of the content of each column.
  std::vector<int> measure() const;
  // Width of each column, 0 for those left out.
  std::vector<int> fit(int available) const;
  std::string render(const Style &style, const Row &row, const std::vector<int> &widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace gpulse::term
