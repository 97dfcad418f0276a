// SPDX-License-Identifier: Apache-2.0
// Snapshots made by hand for the tests of the views. The only file here that names metrics, besides the tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "model/snapshot.hpp"
#include "test_paths.hpp"

namespace gpulse::view::testing {

inline constexpr double kGiB = 1024.0 * 1024 * 1024;

inline Device make_device(std::uint32_t index, std::string name = "NVIDIA H200") {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = "nvml";
  identity->vendor = "nvidia";
  identity->uuid = fmt::format("GPU-{:08}-0000", index);
  identity->pci = fmt::format("0000:{:02x}:00.0", index + 6);
  identity->name = std::move(name);
  identity->driver = "580.159.04";
  Device device;
  device.id.index = index;
  device.identity = identity;
  device.row.fill(Reason::not_supported);
  auto &row = device.row;
  row[device_metric("gpu_utilization_percent")] = 99;
  row[device_metric("sm_active_percent")] = 80.94;
  row[device_metric("memory_used_bytes")] = 112.4 * kGiB;
  row[device_metric("memory_total_bytes")] = 140.4 * kGiB;
  row[device_metric("power_draw_watts")] = 690.7;
  row[device_metric("power_limit_watts")] = 700;
  row[device_metric("temperature_gpu_celsius")] = 64;
  row[device_metric("temperature_memory_celsius")] = 71;
  row[device_metric("clock_graphics_mhz")] = 1980;
  row[device_metric("clock_memory_mhz")] = 3201;
  row[device_metric("tensor_active_percent")] = 41.25;
  row[device_metric("dram_active_percent")] = 35;
  row[device_metric("sm_occupancy_percent")] = 52;
  row[device_metric("pcie_rx_bytes_per_second")] = 3.2e9;
  row[device_metric("pcie_tx_bytes_per_second")] = 4.1e8;
  row[device_metric("performance_state")] = 0;
  row[device_metric("throttle_reasons")] = 0;
  row[device_metric("ecc_uncorrected_total")] = 0;
  return device;
}

inline Process make_process(std::uint32_t pid, std::uint32_t device, std::string command, std::string user = "ann") {
  Process process;
  process.pid = pid;
  process.device.index = device;
  process.types = static_cast<std::uint8_t>(ProcessType::compute);
  process.row.fill(Reason::not_supported);
  process.row[process_metric("gpu_memory_bytes")] = 110.2 * kGiB;
  process.row[process_metric("gpu_utilization_percent")] = 98;
  process.row[process_metric("cpu_percent")] = 101;
  process.row[process_metric("host_memory_bytes")] = 12.6 * kGiB;
  process.row[process_metric("running_seconds")] = 11275;
  TextRow texts(Scope::process);
  texts[process_metric("user")] = std::move(user);
  texts[process_metric("name")] = std::string("python3");
  texts[process_metric("command")] = std::move(command);
  process.texts = std::make_shared<TextRow>(std::move(texts));
  return process;
}

// A machine with `devices` busy devices and one process on each; no device, no process.
inline Snapshot make_snapshot(std::uint32_t devices) {
  Snapshot snapshot;
  snapshot.time = WallTime(std::chrono::seconds(1794709878) + std::chrono::milliseconds(730));
  snapshot.hostname = "node7";
  snapshot.host.fill(Reason::not_supported);
  snapshot.self.fill(Reason::not_supported);
  auto &host = snapshot.host;
  host[host_metric("cpu_percent")] = 12.5;
  host[host_metric("cpu_count")] = 96;
  host[host_metric("cpu_temperature_celsius")] = 61;
  host[host_metric("cpu_power_watts")] = 182.4;
  host[host_metric("load_1m")] = 11.42;
  host[host_metric("memory_used_bytes")] = 182.4 * kGiB;
  host[host_metric("memory_total_bytes")] = 1007.5 * kGiB;
  host[host_metric("swap_used_bytes")] = 0;
  host[host_metric("swap_total_bytes")] = 0;
  host[host_metric("disk_read_bytes_per_second")] = 1.3e9;
  host[host_metric("disk_write_bytes_per_second")] = 2.5e6;
  host[host_metric("network_rx_bytes_per_second")] = 8.1e7;
  host[host_metric("network_tx_bytes_per_second")] = 1.2e6;
  for (std::uint32_t i = 0; i < devices; ++i) {
    snapshot.devices.push_back(make_device(i));
    snapshot.processes.push_back(
        make_process(41000 + i, i, fmt::format("python3 train.py --rank {} --config configs/large.yaml", i)));
  }
  return snapshot;
}

// Compares with a file of the tree; GPULSE_UPDATE_GOLDEN=1 writes it anew, to be read before it is committed.
inline void expect_file(const std::string &path, const std::string &text) {
  const std::string full = kSourceDir + "/" + path;
  if (std::getenv("GPULSE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(full, std::ios::binary) << text;
    return;
  }
  std::ifstream file(full, std::ios::binary);
  std::stringstream wanted;
  wanted << file.rdbuf();
  if (text.size() < 20'000) {
    EXPECT_EQ(text, wanted.str()) << path;
  } else {
    EXPECT_TRUE(text == wanted.str()) << path << " differs: GPULSE_UPDATE_GOLDEN=1 writes it anew";
  }
}

}  // namespace gpulse::view::testing
