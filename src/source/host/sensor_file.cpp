// SPDX-License-Identifier: Apache-2.0
#include "source/host/sensor_file.hpp"

#include <cerrno>

#include "base/text.hpp"
#include "model/checked.hpp"
#include "source/refusal.hpp"

namespace gpulse::host {

namespace {

constexpr std::size_t kMostText = 4096;

}  // namespace

Reading read_sensor(const Sysroot &root, std::string_view path, MetricId metric, double scale, std::string &buffer) {
  if (!root.read_into(buffer, path, kMostText)) return refusal(errno);
  const auto value = parse_double(trim(buffer));
  return value ? checked(metric, *value * scale) : Reason::error;
}

std::string read_name(const Sysroot &root, std::string_view path) {
  const auto text = root.read(path, kMostText);
  return text ? printable(trim(*text)) : std::string();
}

}  // namespace gpulse::host
