// SPDX-License-Identifier: Apache-2.0
// nvidia-smi without arguments: the table of devices, instances and processes; and -L.
#pragma once

#include <string>

#include "metric/set.hpp"
#include "view/smi/cell.hpp"

namespace gpulse::view::smi {

MetricSet needs_of_table();
// Of table and list, what only split devices are looked at for.
MetricSet needs_of_instances();
std::string table(const Selection &selection);

MetricSet needs_of_list();
std::string device_list(const Selection &selection);

}  // namespace gpulse::view::smi
