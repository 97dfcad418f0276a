// SPDX-License-Identifier: Apache-2.0
#include "term/table.hpp"

#include <algorithm>

namespace gpulse::term {

namespace {

// Cuts a row of pieces to a width, so that the colours of those that stay are kept.
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

int Table::total(const std::vector<int> &widths) const {
  int sum = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) sum += widths[i] + (sum == 0 ? 0 : columns_[i].gap);
  }
  return sum;
}

bool Table::drop_least(std::vector<int> &widths, int below) const {
  std::size_t least = widths.size();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0 || columns_[i].keep >= below) continue;
    if (least == widths.size() || columns_[i].keep < columns_[least].keep) least = i;
  }
  if (least == widths.size()) return false;
  widths[least] = 0;
  return true;
}

bool Table::shrink_widest(std::vector<int> &widths) const {
  std::size_t widest = widths.size();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (columns_[i].min == 0 || widths[i] <= columns_[i].min) continue;
    if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
  }
  if (widest == widths.size()) return false;
  --widths[widest];
  return true;
}

bool Table::grow_one(std::vector<int> &widths, const std::vector<int> &content) const {
  std::size_t next = widths.size();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0 || widths[i] >= std::max(content[i], columns_[i].grow_to)) continue;
    // Text that was cut comes before what only looks better wide; of two cut texts the last, the command, say.
    const bool cut_text = widths[i] < content[i];
    if (next == widths.size() || cut_text) next = i;
  }
  if (next == widths.size()) return false;
  ++widths[next];
  return true;
}

std::vector<int> Table::fit(int available) const {
  const std::vector<int> content = measure();
  std::vector<int> widths = content;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (columns_[i].cap > 0) widths[i] = std::min(widths[i], std::max(columns_[i].cap, width(columns_[i].title)));
  }
  while (total(widths) > available && drop_least(widths, Column::kSpare)) {
  }
  while (total(widths) > available && shrink_widest(widths)) {
  }
  while (total(widths) > available && drop_least(widths, Column::kMust)) {
  }
  while (total(widths) < available && grow_one(widths, content)) {
  }
  return widths;
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
