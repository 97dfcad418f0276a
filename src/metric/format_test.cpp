// SPDX-License-Identifier: Apache-2.0
#include "metric/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "metric/table.hpp"

namespace gpulse {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::string shown(MetricId id, double value) { return format_value(describe(id), value); }

TEST(FormatBytes, AtMostFourDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.0 KiB");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(512.0 * 1024 * 1024), "512 MiB");
  EXPECT_EQ(format_bytes(1.1 * kGiB), "1.1 GiB");
  EXPECT_EQ(format_bytes(99.94 * kGiB), "99.9 GiB");
  EXPECT_EQ(format_bytes(99.96 * kGiB), "100 GiB");
  EXPECT_EQ(format_bytes(143 * kGiB), "143 GiB");
  EXPECT_EQ(format_bytes(-2048), "-2.0 KiB");
}

TEST(FormatValue, UnitAndPrecisionOfTheTable) {
  EXPECT_EQ(shown(device_metric("gpu_utilization_percent"), 85), "85 %");
  EXPECT_EQ(shown(device_metric("power_draw_watts"), 690.74), "690.7 W");
  EXPECT_EQ(shown(device_metric("temperature_gpu_celsius"), 41), "41 °C");
  EXPECT_EQ(shown(device_metric("clock_sm_mhz"), 1980), "1980 MHz");
  EXPECT_EQ(shown(device_metric("memory_used_bytes"), 1.1 * kGiB), "1.1 GiB");
  EXPECT_EQ(shown(host_metric("disk_read_bytes_per_second"), 2048), "2.0 KiB/s");
  EXPECT_EQ(shown(host_metric("interrupts_per_second"), 1250.4), "1250/s");
  EXPECT_EQ(shown(host_metric("load_1m"), 0.256), "0.26");
}

TEST(FormatValue, StatesAndSets) {
  EXPECT_EQ(shown(device_metric("performance_state"), 0), "P0");
  EXPECT_EQ(shown(device_metric("performance_state"), 32), "32");
  EXPECT_EQ(shown(device_metric("throttle_reasons"), 0), "none");
  EXPECT_EQ(shown(device_metric("throttle_reasons"), 4 + 32), "power cap, sw thermal");
}

TEST(ValueWords, ABitWithoutAWordIsShown) {
  const auto &reasons = describe(device_metric("throttle_reasons"));
  EXPECT_THAT(value_words(reasons, 1), ElementsAre("idle"));
  EXPECT_THAT(value_words(reasons, std::exp2(40)), ElementsAre("bit 40"));
}

TEST(ValueWords, NoSetIsAnyNumber) {
  const auto &reasons = describe(device_metric("throttle_reasons"));
  for (const double value : {-1.0, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(value_words(reasons, value), IsEmpty()) << value;
  }
}

TEST(Format, VoltagesAreAsFineAsTheSourceTellsThem) {
  const auto &volts = describe(device_metric("voltage_graphics_volts"));
  EXPECT_EQ(format_value(volts, 0.63125), "0.63125 V");
  EXPECT_EQ(format_value(volts, 0.775), "0.775 V");
  EXPECT_EQ(format_value(volts, 1), "1.000 V");
  EXPECT_EQ(format_value(volts, 0.0150004), "0.015 V");
}

}  // namespace
}  // namespace gpulse
