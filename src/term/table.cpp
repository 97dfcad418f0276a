// SPDX-License-Identifier: Apache-2.0
#include "term/table.hpp"

#include <algorithm>

#include "term/fit.hpp"

namespace gpulse::term {

namespace {

// Cuts a row of pieces to a width and keeps their colours.
std::vector<Span> cut_spans(const Style &style, const std::vector<Span> &spans, int columns) {
  std::vector<Span> kept;
  int left = columns;
  for (std::size_t i = 0; i < spans.size() && left > 0; ++i) {
    std::string text = spans[i].text;
    const bool more = i + 1 < spans.size();
    if (width(text) > left || (width(text) == left && more)) {
      text = cut(text + (more ? " " : ""), left, style.ellipsis());
      kept.push_back({text, spans[i].colour});
      break;
    }
    left -= width(text);
    kept.push_back({std::move(text), spans[i].colour});
  }
  return kept;
}

void append(std::vector<Span> &line, std::vector<Span> more) {
  for (auto &span : more) line.push_back(std::move(span));
}

}  // namespace

std::vector<int> Table::measure() const {
  std::vector<int> widths;
  for (const auto &column : columns_) widths.push_back(std::max(width(column.title), column.floor));
  for (const auto &row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const auto &cell = row.cells[i];
      widths[i] = std::max(widths[i], cell.bar ? columns_[i].cap : width(cell.spans));
    }
  }
  return widths;
}

std::vector<int> Table::fit(int available) const {
  const auto content = measure();
  std::vector<FitColumn> wanted;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto &column = columns_[i];
    const int most = column.cap > 0 ? std::max(column.cap, width(column.title)) : content[i];
    wanted.push_back({.width = std::min(content[i], most),
                      .full = content[i],
                      .min = column.min,
                      .max = column.grow_to,
                      .keep = column.keep,
                      .gap = column.gap});
  }
  // Of the texts that were cut the last gets room first: it is the command.
  return fit_columns(wanted, available, {.spare = Column::kSpare, .must = Column::kMust, .last_first = true});
}

std::string Table::render(const Style &style, const Row &row, const std::vector<int> &widths) const {
  std::vector<Span> line_spans;
  int used = 0;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (widths[i] == 0) continue;
    const auto &cell = row.cells[i];
    if (used > 0) {
      line_spans.push_back({std::string(static_cast<std::size_t>(columns_[i].gap), ' '), Colour::plain});
      used += columns_[i].gap;
    }
    auto spans = cell.bar ? bar(style, *cell.bar, widths[i], cell.bar_colour) : cut_spans(style, cell.spans, widths[i]);
    const int content = width(spans);
    Span blanks{std::string(static_cast<std::size_t>(std::max(0, widths[i] - content)), ' '), Colour::plain};
    if (columns_[i].align == Align::right && !cell.bar) {
      line_spans.push_back(std::move(blanks));
      append(line_spans, std::move(spans));
    } else {
      append(line_spans, std::move(spans));
      line_spans.push_back(std::move(blanks));
    }
    used += widths[i];
  }
  if (row.has_rest) {
    line_spans.push_back({"  ", Colour::plain});
    append(line_spans, row.rest.spans);
  }
  return line(style, line_spans);
}

std::vector<bool> Table::kept(const Style &style) const {
  std::vector<bool> there;
  for (const int columns : fit(style.width)) there.push_back(columns > 0);
  return there;
}

std::vector<std::string> Table::lines(const Style &style) const {
  const auto widths = fit(style.width);
  Row titles{{}, {}, false};
  for (const auto &column : columns_) titles.cells.emplace_back(column.title, Colour::dim);
  std::vector<std::string> text{render(style, titles, widths)};
  for (const auto &row : rows_) text.push_back(render(style, row, widths));
  return text;
}

}  // namespace gpulse::term
