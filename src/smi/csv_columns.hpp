// SPDX-License-Identifier: Apache-2.0
// The titles of nvidia-smi's CSV: its names for metrics are in the metric table, further ones here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metric/table.hpp"

namespace gpulse::smi {

inline constexpr std::size_t kMostColumns = 1024;

struct Column {
  enum class What : std::uint8_t {
    ignored,
    metric,
    event_reason,  // one of the reasons for lower clocks
    timestamp,
    index,
    name,
    uuid,
    pci,
    driver,
    pid,
    process_name,
    process_memory,
    other_query,  // of a list that is not read
  };
  What what = What::ignored;
  MetricId metric{};
  std::string_view unit = {};  // of cells that have none
  std::uint64_t bit = 0;

  // Whether it tells one device from another.
  bool is_key() const { return what == What::index || what == What::uuid || what == What::pci; }
};

std::vector<Column> csv_columns(const std::vector<std::string_view> &titles);

}  // namespace gpulse::smi
