// SPDX-License-Identifier: Apache-2.0
// What can be changed on a device, as plain values; a folder's settings.cpp says how its driver is told.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "base/sysroot.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

enum class SettingKind : std::uint8_t {
  persistence,
  compute_mode,
  power_limit,
  graphics_clocks,
  memory_clocks,
  ecc,
  reset,
};

// A mode is its number in `low`, as the metric of that mode counts; a power limit is in watts; clocks are in MHz, from
// `low` to `high`.
struct Setting {
  SettingKind kind = SettingKind::persistence;
  double low = 0, high = 0;
  bool to_default = false;  // as the device comes: of power limits and clocks

  bool operator==(const Setting &) const = default;
};

// Why a driver did not do it. All drivers' refusals are told in NVML's numbers.
struct [[nodiscard]] SettingError {
  static constexpr std::uint16_t kInvalid = 2, kNotSupported = 3, kNoPermission = 4, kInUse = 19, kUnknown = 999;

  std::uint16_t code = kUnknown;
  std::string what;
};
using SettingResult = std::expected<void, SettingError>;

inline std::unexpected<SettingError> setting_refused(std::uint16_t code, std::string what) {
  return std::unexpected(SettingError{code, std::move(what)});
}

// How one source changes what its devices let change.
using SetFunction = SettingResult (*)(const Sysroot &, const DeviceIdentity &, const Setting &);

}  // namespace gpulse
