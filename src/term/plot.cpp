// SPDX-License-Identifier: Apache-2.0
#include "term/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gpulse::term {

namespace {

// Position of the value between low and high, clamped to 0–1.
double share_of(double value, double low, double high) {
  if (!(high > low)) return 0;
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

int step_of(double share, int steps) { return static_cast<int>(std::lround(share * (steps - 1))); }

// The dots of a plot, `across` by `up` per cell from the bottom left, and the curve that drew last in each cell.
class Dots {
 public:
  Dots(const Area &area, int across, int up)
      : columns_(area.columns()), rows_(area.rows()), across_(across), up_(up), cells_(cell_count()) {}

  struct Cell {
    std::uint8_t mask = 0;  // bit: x * up + y
    std::uint8_t curve = 0;
  };

  int width() const { return columns_ * across_; }
  int height() const { return rows_ * up_; }
  const Cell &cell(int column, int row) const { return cells_[index(column, row)]; }

  void set(int x, int y, std::size_t curve) {
    Cell &cell = cells_[index(x / across_, rows_ - 1 - y / up_)];
    cell.mask = static_cast<std::uint8_t>(cell.mask | 1U << static_cast<unsigned>(x % across_ * up_ + y % up_));
    cell.curve = static_cast<std::uint8_t>(curve);
  }

 private:
  std::size_t cell_count() const { return static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_); }
  std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }

  int columns_, rows_, across_, up_;
  std::vector<Cell> cells_;
};

void draw_curve(Dots &dots, const Curve &curve, std::size_t number, const PlotStyle &style) {
  const auto fitting = static_cast<std::size_t>(dots.width());
  const auto values = curve.values.last(std::min(fitting, curve.values.size()));
  int before = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int age = static_cast<int>(values.size() - 1 - i);
    const int x = style.newest_left ? age : dots.width() - 1 - age;
    if (std::isnan(values[i])) {
      before = -1;
      continue;
    }
    const int y = step_of(share_of(values[i], 0, curve.high), dots.height());
    int from = y, to = y;
    if (style.filled) {
      from = 0;
    } else if (before >= 0 && before != y) {
      // Up to the height of the neighbour, which draws that dot itself.
      (before < y ? from : to) = before < y ? before + 1 : before - 1;
    }
    for (int dot = from; dot <= to; ++dot) dots.set(x, dot, number);
    before = y;
  }
}

// Braille numbers its dots down the left column, then down the right; the lowest row was added later.
char32_t braille(std::uint8_t mask) {
  static constexpr std::array<std::uint8_t, 8> kDot{0x40, 0x04, 0x02, 0x01, 0x80, 0x20, 0x10, 0x08};
  char32_t code = 0x2800;
  for (std::size_t bit = 0; bit < kDot.size(); ++bit) {
    if ((mask >> bit & 1U) != 0) code |= kDot[bit];
  }
  return code;
}

// Three heights per cell, by characters that sit low, in the middle or high.
char32_t ascii(std::uint8_t mask) {
  static constexpr std::array<char32_t, 8> kMark{' ', '.', '-', '|', '\'', '|', '|', '|'};
  return kMark[mask & 7U];
}

char32_t ascii_filled(std::uint8_t mask) {
  static constexpr std::array<char32_t, 8> kMark{' ', '.', '-', '=', '\'', '#', '#', '#'};
  return kMark[mask & 7U];
}

}  // namespace

int plot_values(int columns, bool unicode) { return std::max(columns, 0) * (unicode ? 2 : 1); }

void draw_plot(const Area &area, std::span<const Curve> curves, const PlotStyle &style) {
  if (area.empty()) return;
  Dots dots(area, style.unicode ? 2 : 1, style.unicode ? 4 : 3);
  for (std::size_t i = 0; i < curves.size(); ++i) draw_curve(dots, curves[i], i, style);
  for (int row = 0; row < area.rows(); ++row) {
    for (int column = 0; column < area.columns(); ++column) {
      const auto &[mask, curve] = dots.cell(column, row);
      if (mask == 0) continue;
      const char32_t mark = style.unicode ? braille(mask) : style.filled ? ascii_filled(mask) : ascii(mask);
      area.put_char(column, row, mark, curves[curve].ink);
    }
  }
}

void draw_sparkline(const Area &area, std::span<const float> values, double low, double high, const Ink &ink,
                    bool unicode) {
  static constexpr std::u32string_view kBlocks = U"▁▂▃▄▅▆▇█";
  static constexpr std::u32string_view kAscii = U"_.-=#";
  const auto marks = unicode ? kBlocks : kAscii;
  const auto shown = values.last(std::min(values.size(), static_cast<std::size_t>(std::max(area.columns(), 0))));
  int x = area.columns() - static_cast<int>(shown.size());
  for (const float value : shown) {
    const int step = std::isnan(value) ? -1 : step_of(share_of(value, low, high), static_cast<int>(marks.size()));
    area.put_char(x++, 0, step < 0 ? U' ' : marks[static_cast<std::size_t>(step)], ink);
  }
}

void draw_meter(const Area &area, double share, const Ink &full, const Ink &rest, bool unicode) {
  const int columns = area.columns();
  const double kept = std::isnan(share) ? 0.0 : std::clamp(share, 0.0, 1.0);
  const int halves =
      unicode ? static_cast<int>(std::lround(kept * columns * 2)) : 2 * static_cast<int>(std::lround(kept * columns));
  for (int x = 0; x < columns; ++x) {
    const int filled = std::clamp(halves - 2 * x, 0, 2);
    if (unicode) {
      area.put_char(x, 0, filled == 2 ? U'━' : filled == 1 ? U'╸' : U'─', filled > 0 ? full : rest);
    } else {
      area.put_char(x, 0, filled == 2 ? U'|' : U'.', filled > 0 ? full : rest);
    }
  }
}

}  // namespace gpulse::term
