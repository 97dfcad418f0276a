// SPDX-License-Identifier: Apache-2.0
// Numbers and words from the small files of sysfs.
#pragma once

#include <string>
#include <string_view>

#include "base/sysroot.hpp"
#include "metric/table.hpp"
#include "model/reading.hpp"

namespace gpulse::sysfs {

// A file's text without the blanks, line ends and NUL bytes around it: copied trees pad files to a whole page.
std::string_view bare(std::string_view text);

// The text's number times `scale`, as a reading of the metric. A blank file is a driver's way to say that the chip has
// no such thing.
Reading parse_attribute(std::string_view text, MetricId metric, double scale);

// The file's number times `scale`, as a reading of the metric; a reason where it cannot be read or cannot be true.
// `buffer` is the caller's, so that a reading allocates nothing.
Reading read_attribute(const Sysroot &root, std::string_view path, MetricId metric, double scale, std::string &buffer);

// One short text; empty when there is none.
std::string read_word(const Sysroot &root, std::string_view path);

// What the device's uevent file says of the key, "OF_COMPATIBLE_0" for one; empty when nothing.
std::string read_uevent(const Sysroot &root, const std::string &device, std::string_view key);

// Why the kernel refused. Drivers answer so for a device that fell asleep since it was last looked at.
Reason refusal_of_device(int error);

}  // namespace gpulse::sysfs
