// SPDX-License-Identifier: Apache-2.0
// Small files of sysfs that hold one number or one word.
#pragma once

#include <string>
#include <string_view>

#include "base/sysroot.hpp"
#include "metric/table.hpp"
#include "model/reading.hpp"

namespace gpulse::host {

// The file's number times `scale`, as a reading of the metric; a reason where it cannot be read or cannot be true.
Reading read_sensor(const Sysroot &root, std::string_view path, MetricId metric, double scale, std::string &buffer);

// One short text; empty when there is none.
std::string read_name(const Sysroot &root, std::string_view path);

}  // namespace gpulse::host
