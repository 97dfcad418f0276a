// SPDX-License-Identifier: Apache-2.0
// nvidia-smi dmon and pmon: a line per device or process and tick.
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
  bool names = true, units = true;  // the two lines of the header
};

struct MonitorColumn {
  std::string_view name, unit;
  int columns = 6;
  MetricId metric{};
  std::string (*text)(double) = nullptr;
};

// The columns of "pucvmet", in that order whatever the order asked for; empty where no letter is known.
std::vector<MonitorColumn> device_columns(std::string_view letters);
// The columns of "1,2,10": GPM metrics by number.
Result<std::vector<MonitorColumn>> activity_columns(std::string_view numbers);
MetricSet needs_of_columns(const std::vector<MonitorColumn> &columns);
std::string device_header(const std::vector<MonitorColumn> &columns, const MonitorStyle &style);
std::string device_lines(const Scene &scene, const std::vector<MonitorColumn> &columns, const MonitorStyle &style);

struct ProcessColumns {
  bool use = true, memory = false;
};
MetricSet needs_of_processes(const ProcessColumns &columns);
std::string process_header(const ProcessColumns &columns, const MonitorStyle &style);
std::string process_lines(const Scene &scene, const ProcessColumns &columns, const MonitorStyle &style);

}  // namespace gpulse::view::smi
