// SPDX-License-Identifier: Apache-2.0
// Any bytes as a sensor's value and as the names of its files.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/sysfs/attribute.hpp"
#include "source/sysfs/hwmon.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_value(std::string_view text) {
  using namespace gpulse;
  const auto bare = sysfs::bare(text);
  require(sysfs::bare(bare) == bare && bare.size() <= text.size());
  constexpr double kMilli = 1e-3;
  for (const auto metric : {device_metric("temperature_gpu_celsius"), device_metric("power_draw_watts"),
                            device_metric("fan_speed_rpm"), device_metric("voltage_graphics_volts")}) {
    const auto reading = sysfs::parse_attribute(text, metric, kMilli);
    require(!reading || (std::isfinite(reading.value()) && reading.value() <= 1e5));
  }
}

void check_name(std::string_view file) {
  const auto name = gpulse::sysfs::parse_sensor_name(file);
  require(!name || (name->number >= 0 && file.starts_with(name->stem) && name->stem.starts_with(name->kind)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the fuzzer's bytes are the text
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  check_value(text);
  check_name(text);
  return 0;
}
