// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "view/cell.hpp"
#include "view/device_cells.hpp"
#include "view/status_parts.hpp"

namespace gpulse::view {

using term::Align;
using term::Colour;
using term::Span;
using term::Style;

namespace {

constexpr int kIndexColumns = 3;
constexpr int kCellColumns = kIndexColumns + 1 + 5;  // "127  99 █"
constexpr int kGap = 2;

// One column that is as full as the memory is.
std::string memory_mark(const Style &style, double share) {
  static constexpr std::array<std::string_view, 9> kBlocks{"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double part = std::clamp(share, 0.0, 1.0);
  if (!style.unicode) return fmt::format("{}", std::min(9, static_cast<int>(part * 10)));
  return std::string(kBlocks[static_cast<std::size_t>(std::ceil(part * 8))]);
}

std::string_view short_state(DeviceState state) {
  switch (state) {
    case DeviceState::asleep:
      return "sleep";
    case DeviceState::lost:
      return "lost";
    default:
      return "hangs";
  }
}

std::vector<Span> grid_cell(const Style &style, const Device &device) {
  std::vector<Span> spans{{term::pad(text(device.id), kIndexColumns, Align::right) + " ", Colour::dim}};
  if (device.state != DeviceState::ok) {
    const auto colour = device.state == DeviceState::asleep ? Colour::dim : Colour::bad;
    spans.push_back({term::pad(short_state(device.state), 5, Align::right), colour});
    return spans;
  }
  const auto load = by_role(device.row, Role::utilization);
  const auto number = load ? fmt::format("{:.0f}", load.value()) : std::string(style.dash());
  spans.push_back({term::pad(number, 3, Align::right) + " ", load ? load_colour(load.value()) : Colour::dim});
  const double share = memory_share(device);
  spans.push_back({share < 0 ? std::string(style.dash()) : memory_mark(style, share),
                   share < 0 ? Colour::dim : memory_colour(share)});
  return spans;
}

}  // namespace

Lines device_grid(const Snapshot &snapshot, const Style &style, std::size_t limit) {
  const auto devices = ordered_devices(snapshot);
  const auto across = static_cast<std::size_t>(std::max(1, (style.width + kGap) / (kCellColumns + kGap)));
  std::size_t down = (devices.size() + across - 1) / across;
  if (down + 1 > limit) down = limit > 2 ? limit - 2 : 1;
  const std::size_t shown = std::min(devices.size(), down * across);
  Lines lines{term::line(style, {{"each GPU: index, utilisation %, memory used", Colour::dim}})};
  for (std::size_t row = 0; row < down; ++row) {
    std::vector<Span> spans;
    for (std::size_t at = row; at < shown; at += down) {
      if (!spans.empty()) spans.push_back({std::string(kGap, ' '), Colour::plain});
      for (auto &span : grid_cell(style, *devices[at])) spans.push_back(std::move(span));
    }
    lines.push_back(term::line(style, spans));
  }
  if (shown < devices.size()) {
    lines.push_back(term::line(style, {{fmt::format("+{} more GPUs", devices.size() - shown), Colour::dim}}));
  }
  return lines;
}

}  // namespace gpulse::view
