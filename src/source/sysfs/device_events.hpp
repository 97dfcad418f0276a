// SPDX-License-Identifier: Apache-2.0
// How many events of devices the kernel has sent since it started. While the number stands still no device has come or
// gone, and no driver either, so that nobody need look for one. Shared by all sources; any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/kept_file.hpp"
#include "base/sysroot.hpp"

namespace gpulse::sysfs {

class DeviceEvents {
 public:
  explicit DeviceEvents(Sysroot root) : root_(std::move(root)) {}

  // None where the kernel's number cannot be read. Those who ask at almost the same time share one reading.
  std::optional<std::uint64_t> count(Monotonic now);

 private:
  const Sysroot root_;
  std::mutex mutex_;
  KeptFile file_;
  std::string text_;
  std::optional<Monotonic> read_at_;
  std::optional<std::uint64_t> count_;
};

}  // namespace gpulse::sysfs
