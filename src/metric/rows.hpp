// SPDX-License-Identifier: Apache-2.0
// All rows of the metric table in one array. Order is the order of every list that people see. For table.cpp and the
// tool that writes metric/keys.hpp; everybody else includes metric/table.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>

#include "metric/rows/core.hpp"
#include "metric/rows/device_activity.hpp"
#include "metric/rows/device_detail.hpp"
#include "metric/rows/device_health.hpp"
#include "metric/rows/device_modes.hpp"
#include "metric/rows/device_power.hpp"
#include "metric/rows/host.hpp"
#include "metric/rows/process.hpp"
#include "metric/rows/self.hpp"

namespace gpulse {

namespace detail {
template <std::size_t... N>
constexpr auto join_rows(const Metric (&...parts)[N]) {
  std::array<Metric, (N + ...)> all{};
  auto at = all.begin();
  ((at = std::copy(std::begin(parts), std::end(parts), at)), ...);
  return all;
}
}  // namespace detail

inline constexpr auto kMetricRows = detail::join_rows(
    rows::kDeviceActivityRows, rows::kDevicePowerRows, rows::kDeviceHealthRows, rows::kDeviceModesRows,
    rows::kProcessRows, rows::kHostRows, rows::kCoreRows, rows::kSelfRows, rows::kDeviceDetailRows);

}  // namespace gpulse
