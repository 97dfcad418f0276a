// SPDX-License-Identifier: Apache-2.0
#include "smi/headings.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "metric/table.hpp"

namespace gpulse::smi {

namespace {

constexpr std::array kHeadings{
    // The table of GPUs
    Heading{"Persistence-M", "Whether the driver stays loaded while no program uses the GPU.", "persistence_mode"},
    Heading{"Bus-Id", "PCI address of the GPU: domain, bus, device and function."},
    Heading{"Disp.A", "Display active: whether a screen is drawn on this GPU.", "display_active"},
    Heading{"Volatile Uncorr. ECC",
            "Memory errors since the driver was loaded that could not be corrected; N/A where error correction is "
            "missing or off.",
            "ecc_uncorrected_volatile_total"},
    Heading{"Fan", "Speed the fans are set to, of their most; N/A on boards without own fans.", "fan_speed_percent"},
    Heading{"Temp", "Temperature of the processor.", "temperature_gpu_celsius"},
    Heading{"Perf", "Performance state, from P0 (fastest) to P15 (slowest).", "performance_state"},
    Heading{"Pwr:Usage/Cap", "Power drawn by the board, and the limit in force.", "power_draw_watts"},
    Heading{"Memory-Usage", "Device memory in use, and all there is: how full it is, not how busy.",
            "memory_used_bytes"},
    Heading{"GPU-Util",
            "Share of the last moment in which at least one kernel ran. One spinning processor of 132 makes it 100 %: "
            "SM says how much of the GPU is at work.",
            "gpu_utilization_percent"},
    Heading{"Compute M.", "Compute mode: who may compute on the GPU.", "compute_mode"},
    Heading{"MIG M.", "Whether the GPU is split into instances.", "mig_mode"},
    Heading{"E. Process", "Exclusive process: one program at a time may compute.", "compute_mode"},
    Heading{"Driver Version", "Version of the driver that is loaded."},
    Heading{"NVIDIA-SMI", "Version of nvidia-smi itself; it belongs to the driver's."},
    Heading{"CUDA Version", "Newest CUDA that the driver serves; not the one that is installed.", "cuda_version"},
    Heading{"ERR!", "The driver answered with an error in place of a number: gpulse says which."},
    Heading{"N/A", "The GPU or its driver does not have this number: gpulse says why not."},
    // Instances
    Heading{"GI", "Number of the GPU instance: the part of the GPU that has memory of its own."},
    Heading{"CI", "Number of the compute instance within its GPU instance."},
    Heading{"GI ID", "Number of the GPU instance: the part of the GPU that has memory of its own."},
    Heading{"CI ID", "Number of the compute instance within its GPU instance."},
    Heading{"MIG Dev", "Number of the instance on its GPU; gpulse calls it 0:1, instance 1 of GPU 0."},
    Heading{"BAR1-Usage", "Part of the window into device memory that is mapped now.", "bar1_used_bytes"},
    Heading{"Unc", "Memory errors not corrected.", "ecc_uncorrected_volatile_total"},
    Heading{"CE", "Copy engines of the instance."},
    Heading{"OFA", "Optical-flow engines of the instance.", "ofa_utilization_percent"},
    // Processes
    Heading{"Type", "C computes, G draws, C+G does both, M+C computes through MPS."},
    Heading{"C", "Type of a process: it computes."},
    Heading{"G", "Type of a process: it draws."},
    Heading{"C+G", "Type of a process: it computes and draws."},
    Heading{"M+C", "Type of a process: it computes through MPS, which lets several share the GPU."},
    Heading{"M+C+G", "Type of a process: it computes through MPS, and draws."},
    Heading{"Process name", "Program that the process runs.", "program"},
    Heading{"GPU Memory Usage", "Device memory the process holds.", "gpu_memory_bytes"},
    // dmon
    Heading{"pwr", "Power drawn, in watts.", "power_draw_watts"},
    Heading{"gtemp", "Temperature of the processor.", "temperature_gpu_celsius"},
    Heading{"mtemp", "Temperature of the memory.", "temperature_memory_celsius"},
    Heading{"mclk", "Memory clock, in MHz.", "clock_memory_mhz"},
    Heading{"pclk", "Clock of the processors, in MHz.", "clock_sm_mhz"},
    Heading{"rxpci", "MB a second into the GPU over PCIe.", "pcie_rx_bytes_per_second"},
    Heading{"txpci", "MB a second out of the GPU over PCIe.", "pcie_tx_bytes_per_second"},
    Heading{"fb", "Device memory in use, in MiB.", "memory_used_bytes"},
    Heading{"bar1", "Part of the window into device memory that is mapped now, in MiB.", "bar1_used_bytes"},
    Heading{"ccpm", "Protected memory of confidential computing in use, in MiB."},
    Heading{"sbecc", "Memory errors corrected.", "ecc_corrected_volatile_total"},
    Heading{"dbecc", "Memory errors not corrected.", "ecc_uncorrected_volatile_total"},
    Heading{"pviol", "Share of time slowed down by the power limit.", "throttled_power_percent"},
    Heading{"tviol", "Share of time slowed down by heat.", "throttled_thermal_percent"},
};

constexpr bool has_metric(std::string_view key) {
  return std::ranges::any_of(kMetricKeys, [&](const MetricKey &metric) { return metric.key == key; });
}
static_assert(std::ranges::all_of(kHeadings, [](const Heading &heading) {
  return heading.key.empty() || has_metric(heading.key);
}));

}  // namespace

std::span<const Heading> headings() { return kHeadings; }

const Heading *find_heading(std::string_view name) {
  const auto wanted = lower(name);
  const auto *const found =
      std::ranges::find_if(kHeadings, [&](const Heading &heading) { return lower(heading.name) == wanted; });
  return found == kHeadings.end() ? nullptr : found;
}

}  // namespace gpulse::smi
