// SPDX-License-Identifier: Apache-2.0
// nvidia-smi dmon and pmon: a line per device or process in every interval.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

struct MonitorStyle {
  bool date = false, time = false;
  bool csv = false;
  bool names = true, units = true;  // the two header lines
};

struct MonitorColumn {
  std::string_view name, unit;
  int width = 6;
  MetricId metric{};
  std::string (*print)(double) = nullptr;
};

// The columns for some of the letters "pucvmet", always in this order; empty if no letter is known.
std::vector<MonitorColumn> device_columns(std::string_view letters);
// The columns for GPM metrics by number, such as "1,2,10".
Result<std::vector<MonitorColumn>> gpm_columns(std::string_view numbers);
MetricSet needs_of_columns(const std::vector<MonitorColumn> &columns);
std::string device_header(const std::vector<MonitorColumn> &columns, const MonitorStyle &style);
std::string device_lines(const Selection &selection, const std::vector<MonitorColumn> &columns,
                         const MonitorStyle &style);

struct ProcessColumns {
  bool use = true, memory = false;
};
MetricSet needs_of_processes(const ProcessColumns &columns);
std::string process_header(const ProcessColumns &columns, const MonitorStyle &style);
std::string process_lines(const Selection &selection, const ProcessColumns &columns, const MonitorStyle &style);

}  // namespace gpulse::view::smi
