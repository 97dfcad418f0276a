// SPDX-License-Identifier: Apache-2.0
// Numbers and words from the small files of sysfs.
#pragma once

#include <string>
#include <string_view>

#include "base/sysroot.hpp"
#include "metric/table.hpp"
#include "model/reading.hpp"

namespace gpulse::sysfs {

// The text without blanks, line ends and NUL bytes around it: copies of /sys pad files to a whole page.
std::string_view bare(std::string_view text);

// The text's number times `scale`, as a reading of the metric. An empty file is a driver's way to say that the chip
// does not have it.
Reading parse_attribute(std::string_view text, MetricId metric, double scale);

// The file's number times `scale`, as a reading of the metric; a reason when it cannot be read or is implausible.
// `buffer` is the caller's, so that a reading allocates nothing.
Reading read_attribute(const Sysroot &root, std::string_view path, MetricId metric, double scale, std::string &buffer);

// The file's text on one line; empty when it cannot be read.
std::string read_word(const Sysroot &root, std::string_view path);

// The value of a key in the device's uevent file, e.g. "OF_COMPATIBLE_0"; empty when there is none.
std::string read_uevent(const Sysroot &root, const std::string &device, std::string_view key);

// The reason for an errno of a device's file. EBUSY is what drivers answer for a device that has fallen asleep.
Reason refusal_of_device(int error);

}  // namespace gpulse::sysfs
