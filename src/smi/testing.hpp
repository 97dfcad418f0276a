// SPDX-License-Identifier: Apache-2.0
// Builds small documents like those of nvidia-smi, for the tests of the readers.
#pragma once

#include <gtest/gtest.h>

#include "smi/read_log.hpp"

namespace gpulse::smi {

inline constexpr double kMiB = 1048576;

inline std::string document(const std::string &inside) {
  return "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n" +
         inside + "</nvidia_smi_log>\n";
}

inline Snapshot read(const std::string &inside) {
  const auto log = read_log(document(inside), "log");
  EXPECT_TRUE(log) << log.error().line();
  if (!log || log->size() != 1) return {};
  return *log->front();
}

inline Device gpu(const std::string &inside) {
  auto snapshot = read("<gpu id=\"00000000:0A:00.0\"><uuid>GPU-1</uuid>" + inside + "</gpu>");
  EXPECT_EQ(snapshot.devices.size(), 1U);
  return snapshot.devices.empty() ? Device{} : snapshot.devices.front();
}

inline std::string refusal(const std::string &text) {
  const auto log = read_log(text, "log");
  EXPECT_FALSE(log);
  return log ? "" : log.error().line();
}

inline Reading number(const Device &device, std::string_view key) {
  if (const auto id = find_metric(Scope::device, key)) return device.row[*id];
  return device.details->row[find_metric(Scope::detail, key).value()];
}

}  // namespace gpulse::smi
