// SPDX-License-Identifier: Apache-2.0
// Finds out from the titles what the columns of nvidia-smi's CSV contain.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "smi/query_row.hpp"

namespace gpulse::smi {

inline constexpr std::size_t kMostColumns = 1024;

struct Column {
  enum class What : std::uint8_t {
    ignored,
    metric,
    fact,
    told,  // no metric stands for it
  };
  What what = What::ignored;
  Fact fact = Fact::none;
  MetricId metric{};
  std::uint64_t mask = 0;  // the bits of the metric in this column; 0: all
  Form form = {};
  std::string_view told = {};  // the name in DeviceDetails::told
  std::string_view unit = {};  // of cells without a unit

  bool is(Fact which) const { return what == What::fact && fact == which; }
  // Identifies the device.
  bool is_key() const { return is(Fact::index) || is(Fact::uuid) || is(Fact::bus_id); }
};

std::vector<Column> csv_columns(const std::vector<std::string_view> &titles);

}  // namespace gpulse::smi
