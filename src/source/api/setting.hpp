// SPDX-License-Identifier: Apache-2.0
// What can be changed on a device, as plain values. A vendor's settings.cpp passes it on to the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "base/sysroot.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

// Each has a row in control/rows.cpp, in this order.
enum class SettingKind : std::uint8_t {
  persistence,
  compute_mode,
  power_limit,
  graphics_clocks,
  memory_clocks,
  application_clocks,
  target_temperature,
  ecc,
  mig,
  accounting,
  ecc_errors,           // counted so far: cleared
  accounted_processes,  // known so far: forgotten
  reset,                // stays last
};
inline constexpr std::size_t kSettingKinds = static_cast<std::size_t>(SettingKind::reset) + 1;

// A mode is a number in `low`, the same as in the metric that shows it; so is which errors are meant: 0 since the
// driver was loaded, 1 all. A power limit is in watts, a temperature in degrees Celsius. Clocks are in MHz, from `low`
// to `high`; those of applications are the memory's and the graphics'.
struct Setting {
  SettingKind kind = SettingKind::persistence;
  double low = 0, high = 0;
  bool to_default = false;  // for power limits and clocks: back to the device's own default

  bool operator==(const Setting &) const = default;
};

enum class SettingFailure : std::uint8_t { invalid, not_supported, no_permission, in_use, failed };

// Why a driver did not change a setting.
struct [[nodiscard]] SettingError {
  SettingFailure failure = SettingFailure::failed;
  Text what{};
  std::optional<std::uint16_t> driver_code{};  // the driver's own number for it, if it has one
};
// The driver has taken the setting.
struct SettingDone {
  std::optional<SettingError> waits{};  // it takes effect only after a reset, for this reason
};
using SettingResult = std::expected<SettingDone, SettingError>;

inline std::unexpected<SettingError> setting_failed(SettingFailure failure, Text what,
                                                    std::optional<std::uint16_t> driver_code = std::nullopt) {
  return std::unexpected(SettingError{failure, std::move(what), driver_code});
}
inline std::unexpected<SettingError> setting_not_supported() {
  return setting_failed(SettingFailure::not_supported, "not supported");
}

// How a source changes a setting of one of its devices.
using SetFunction = SettingResult (*)(const Sysroot &, const DeviceIdentity &, const Setting &);

}  // namespace gpulse
