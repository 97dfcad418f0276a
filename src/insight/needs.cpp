// SPDX-License-Identifier: Apache-2.0
#include "insight/needs.hpp"

#include "insight/notices.hpp"

namespace gpulse::insight {

namespace {

MetricSet of_work() {
  return {device_metric("gpu_utilization_percent"),
          device_metric("graphics_active_percent"),
          device_metric("sm_active_percent"),
          device_metric("tensor_active_percent"),
          device_metric("tensor_fp64_active_percent"),
          device_metric("fp64_active_percent"),
          device_metric("fp32_active_percent"),
          device_metric("fp16_active_percent"),
          device_metric("integer_active_percent"),
          device_metric("dram_active_percent"),
          device_metric("memory_utilization_percent"),
          device_metric("encoder_utilization_percent"),
          device_metric("decoder_utilization_percent"),
          device_metric("jpeg_utilization_percent"),
          device_metric("ofa_utilization_percent"),
          device_metric("memory_used_bytes"),
          device_metric("memory_total_bytes"),
          device_metric("process_count"),
          device_metric("power_instant_watts"),
          device_metric("power_draw_watts"),
          device_metric("power_limit_watts"),
          device_metric("clock_sm_mhz"),
          device_metric("clock_max_sm_mhz"),
          device_metric("throttle_reasons"),
          device_metric("throttled_power_percent"),
          device_metric("throttled_thermal_percent"),
          device_metric("pcie_rx_bytes_per_second"),
          device_metric("pcie_tx_bytes_per_second"),
          device_metric("pcie_link_generation"),
          device_metric("pcie_link_generation_max"),
          device_metric("pcie_link_width"),
          device_metric("pcie_link_width_max")};
}

MetricSet of_jobs() {
  return {process_metric("name"),
          process_metric("command"),
          process_metric("parent"),
          process_metric("parent_pid"),
          process_metric("framework"),
          process_metric("running_seconds"),
          process_metric("gpu_memory_bytes"),
          process_metric("host_memory_bytes"),
          process_metric("cpu_percent"),
          process_metric("tree_processes"),
          process_metric("tree_busy_processes"),
          process_metric("tree_cpu_percent"),
          process_metric("tree_memory_bytes"),
          process_metric("tree_disk_wait_percent"),
          process_metric("tree_read_bytes_per_second"),
          process_metric("tree_write_bytes_per_second"),
          process_metric("cgroup_pressure_io_percent"),
          process_metric("cgroup_pressure_cpu_percent")};
}

MetricSet of_host() {
  return {host_metric("cpu_count"),
          host_metric("cpu_percent"),
          host_metric("cpu_iowait_percent"),
          host_metric("pressure_io_percent"),
          host_metric("disk_read_bytes_per_second"),
          host_metric("network_rx_bytes_per_second"),
          host_metric("memory_used_bytes"),
          host_metric("memory_total_bytes"),
          host_metric("memory_available_bytes"),
          host_metric("swap_used_bytes"),
          host_metric("swap_total_bytes")};
}

}  // namespace

MetricSet needs_of_findings() {
  auto set = of_work();
  set.add(of_jobs());
  set.add(of_host());
  for (const auto id : watched_metrics()) {
    if (describe(id).group == Group::health) set.add(id);
  }
  // Errors of the driver are heard only where somebody listens.
  set.add_roles(Scope::device, {Role::alarm});
  return set;
}

}  // namespace gpulse::insight
