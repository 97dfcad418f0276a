// SPDX-License-Identifier: Apache-2.0
// The columns of the list of devices: what each says of a device, and how wide it wants to be.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "term/fit.hpp"
#include "tui/device_list.hpp"
#include "tui/draw_context.hpp"

namespace gpulse::tui {

using DeviceLines = std::vector<DeviceLine>;

struct DeviceColumn {
  std::string title;
  term::FitColumn fit;
  term::Align align = term::Align::right;
  std::vector<term::Cell> cells{};                                        // either these, one per line
  std::function<void(const term::Area &, const DeviceLine &)> picture{};  // or this
  std::function<std::string(int columns)> heading{};                      // in place of the title, for its width
  std::optional<DeviceOrder> order = std::nullopt;                        // what a click on it sorts by
  std::optional<MetricId> metric = std::nullopt;                          // whose only place it is
  bool is_name = false;
};

// For all lines of the list, so that they do not jump when it is scrolled. The lines must outlive them.
std::vector<DeviceColumn> device_columns(const DeviceLines &lines, const DrawContext &context, bool two_lines);

// An order as the value of a Hit, and back.
std::size_t hit_value(const DeviceOrder &order);
DeviceOrder order_of(std::size_t hit_value);

// The name that all devices have, and "8 x " before it; empty where they differ.
std::string common_name(const DeviceLines &lines, const term::Style &style, bool counted);
// The names without the words that all of them begin with.
void drop_common_words(DeviceColumn &names);

}  // namespace gpulse::tui
