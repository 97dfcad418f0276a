// SPDX-License-Identifier: Apache-2.0
#include "fleet_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace gpulse::bench {

namespace {

constexpr std::uint32_t kHostsOfJob = 4, kHostsOfCluster = 250;
constexpr double kMiB = 1048576.0, kGiB = 1024 * kMiB;
constexpr double kPowerCap = 4, kIdle = 1, kSwThermal = 32;  // bits of what holds the clocks back

double unit_of(std::mt19937 &random) { return std::generate_canonical<double, 32>(random); }

// Healthy hardware says these for years.
constexpr std::array kCalm{device_metric("ecc_uncorrected_total"),
                           device_metric("ecc_uncorrected_volatile_total"),
                           device_metric("ecc_dram_uncorrected_volatile_total"),
                           device_metric("ecc_sram_threshold_exceeded"),
                           device_metric("remapped_rows_uncorrected_total"),
                           device_metric("remapped_rows_pending"),
                           device_metric("remapped_rows_failure"),
                           device_metric("recovery_action"),
                           device_metric("encoder_utilization_percent"),
                           device_metric("decoder_utilization_percent")};

std::shared_ptr<const DeviceIdentity> make_identity(std::uint32_t node, std::uint32_t index) {
  DeviceIdentity identity;
  identity.source = "nvml";
  identity.vendor = "nvidia";
  identity.uuid = fmt::format("GPU-{:08x}-{:04x}-4c1d-9a55-{:012x}", node * 2654435761U, index, node * 8ULL + index);
  identity.pci = fmt::format("0000:{:02x}:00.0", 0x18 + 0x11 * index);
  identity.name = "NVIDIA H100 80GB HBM3";
  identity.driver = "580.159.04";
  identity.texts[device_metric("serial")] = TextReading(Text(fmt::format("165{:010}", node * 8 + index)));
  identity.texts[device_metric("vbios_version")] = TextReading(Text("96.00.89.00.01"));
  identity.texts[device_metric("cuda_version")] = TextReading(Text("13.0"));
  return std::make_shared<const DeviceIdentity>(std::move(identity));
}

std::shared_ptr<const TextRow> make_owner(std::uint32_t job) {
  TextRow texts(Scope::process);
  texts[process_metric("user")] = TextReading(Text(fmt::format("user{:03}", job % 60)));
  texts[process_metric("name")] = TextReading(Text("python3"));
  texts[process_metric("job")] = TextReading(Text(fmt::format("{}", 814000 + job)));
  texts[process_metric("account")] = TextReading(Text(fmt::format("group{}", job % 9)));
  return std::make_shared<const TextRow>(std::move(texts));
}

}  // namespace

double FleetNode::Noise::next(std::mt19937 &random) {
  constexpr double kStays = 0.8;
  // Three sums of evenly spread numbers are a bell that is near enough.
  const double bell = (unit_of(random) + unit_of(random) + unit_of(random) - 1.5) * 2;
  value = kStays * value + std::sqrt(1 - kStays * kStays) * bell;
  return value;
}

FleetNode::FleetNode(std::uint32_t number, std::uint32_t gpus)
    : number_(number), job_(number / kHostsOfJob), random_(number) {
  constexpr std::array<Work, 16> kMix{Work::training, Work::training, Work::serving, Work::training,
                                      Work::training, Work::training, Work::held,    Work::training,
                                      Work::training, Work::nothing,  Work::serving, Work::training,
                                      Work::training, Work::training, Work::serving, Work::training};
  work_ = kMix[job_ % kMix.size()];
  if (work_ != Work::nothing) owner_ = make_owner(job_);
  for (std::uint32_t i = 0; i < gpus; ++i) {
    Gpu gpu;
    gpu.identity = make_identity(number, i);
    gpu.used_bytes = (work_ == Work::nothing ? 0.6 : 40 + 30 * unit_of(random_)) * kGiB;
    gpu.joules = 1e8 * unit_of(random_);
    gpu.is_throttled = (number * gpus + i) % 53 == 17;
    gpus_.push_back(std::move(gpu));
  }
}

std::string FleetNode::instance() const { return fmt::format("node{:05}:9837", number_); }
std::string FleetNode::cluster() const { return fmt::format("c{}", number_ / kHostsOfCluster); }

double FleetNode::load_at(double seconds, Gpu &gpu) {
  constexpr double kCheckpoint = 900, kPause = 30, kWave = 1800;
  const double noise = gpu.use.next(random_);
  switch (work_) {
    case Work::training:
      // All hosts of a job stop to write it down at the same time.
      if (std::fmod(seconds + job_ * 37.0, kCheckpoint) < kPause) return 0.05;
      return std::clamp(0.96 + 0.02 * noise, 0.0, 1.0);
    case Work::serving:
      return std::clamp(0.45 + 0.25 * std::sin(2 * std::numbers::pi * seconds / kWave + job_) + 0.12 * noise, 0.0, 1.0);
    default:
      return 0;
  }
}

Device FleetNode::device(std::uint32_t index, double seconds, double load) {
  auto &gpu = gpus_[index];
  Device device;
  device.id.index = index;
  device.identity = gpu.identity;
  if (gpu.is_lost) {
    device.state = DeviceState::lost;
    device.row.fill(Reason::lost);
    return device;
  }
  auto &row = device.row;
  row.fill(Reason::not_supported);
  for (const auto id : kCalm) row[id] = 0;
  const double watts = std::max(72.0, 74 + 580 * load + 9 * gpu.power.next(random_));
  const double degrees =
      std::round(31 + 34 * load + (gpu.is_throttled ? 22 * load : 0) + gpu.temperature.next(random_));
  const double links = std::max(0.0, load * (1 + 0.1 * gpu.links.next(random_)));
  // Memory changes rarely, and by whole pieces.
  if (std::abs(gpu.memory.next(random_)) > 2.2 && load > 0) gpu.used_bytes += 64 * kMiB;
  gpu.joules += watts * seconds;
  const double clock = load == 0 ? 345 : (gpu.is_throttled ? 1215 : 1755) + 15 * std::round(gpu.clock.next(random_));
  row[device_metric("gpu_utilization_percent")] = std::round(100 * std::min(1.0, load * 1.03));
  row[device_metric("memory_utilization_percent")] = std::round(42 * load);
  row[device_metric("sm_active_percent")] = 86 * load;
  row[device_metric("sm_occupancy_percent")] = 31 * load;
  row[device_metric("tensor_active_percent")] = 44 * load;
  row[device_metric("dram_active_percent")] = 37 * load;
  row[device_metric("process_count")] = owner_ ? 1 : 0;
  row[device_metric("memory_used_bytes")] = std::floor(gpu.used_bytes / kMiB) * kMiB;
  row[device_metric("memory_total_bytes")] = 81559 * kMiB;
  row[device_metric("power_draw_watts")] = watts;
  row[device_metric("power_limit_watts")] = 700;
  row[device_metric("energy_joules")] = gpu.joules;
  row[device_metric("temperature_gpu_celsius")] = degrees;
  row[device_metric("temperature_memory_celsius")] = degrees + 8;
  row[device_metric("clock_graphics_mhz")] = clock;
  row[device_metric("clock_memory_mhz")] = 2619;
  row[device_metric("throttle_reasons")] = load == 0          ? kIdle
                                           : gpu.is_throttled ? kSwThermal
                                           : load > 0.9       ? kPowerCap
                                                              : 0;
  row[device_metric("pcie_rx_bytes_per_second")] = std::round(2.1e9 * links);
  row[device_metric("pcie_tx_bytes_per_second")] = std::round(1.4e9 * links);
  row[device_metric("nvlink_rx_bytes_per_second")] = std::round(8.3e10 * links);
  row[device_metric("nvlink_tx_bytes_per_second")] = std::round(8.2e10 * links);
  row[device_metric("pcie_link_width")] = 16;
  return device;
}

void FleetNode::add_processes(Snapshot &to) const {
  if (!owner_) return;
  for (const auto &device : to.devices) {
    Process process;
    process.pid = 100000 + device.id.index;
    process.device = device.id;
    process.types = static_cast<std::uint8_t>(ProcessType::compute);
    process.row[process_metric("gpu_memory_bytes")] = gpus_[device.id.index].used_bytes;
    process.texts = owner_;
    to.processes.push_back(std::move(process));
  }
}

void FleetNode::fill_host(Row &row, double load) {
  const double noise = cpu_.next(random_);
  row.fill(Reason::not_supported);
  row[host_metric("cpu_percent")] = std::max(0.5, 4 + 22 * load + 2 * noise);
  row[host_metric("cpu_iowait_percent")] = std::max(0.0, 0.3 + 0.2 * noise);
  row[host_metric("cpu_busiest_core_percent")] = std::min(100.0, 60 + 39 * load);
  row[host_metric("cpu_count")] = 192;
  row[host_metric("load_1m")] = std::max(0.1, 40 * load + 3 * noise);
  row[host_metric("memory_total_bytes")] = 2016 * kGiB;
  row[host_metric("memory_used_bytes")] = (180 + 320 * load + 2 * noise) * kGiB;
  row[host_metric("memory_used_percent")] = (180 + 320 * load + 2 * noise) / 20.16;
  row[host_metric("swap_total_bytes")] = 0;
  row[host_metric("swap_used_bytes")] = 0;
  row[host_metric("disk_read_bytes_per_second")] = std::round(std::max(0.0, 3e8 * load + 4e7 * noise));
  row[host_metric("disk_write_bytes_per_second")] = std::round(std::max(0.0, 2e7 + 1e7 * noise));
  row[host_metric("network_rx_bytes_per_second")] = std::round(std::max(0.0, 6e8 * load + 5e7 * noise));
  row[host_metric("network_tx_bytes_per_second")] = std::round(std::max(0.0, 5e8 * load + 5e7 * noise));
  row[host_metric("pressure_cpu_percent")] = std::max(0.0, 0.5 + 0.3 * noise);
  row[host_metric("pressure_io_percent")] = std::max(0.0, 0.2 + 0.1 * noise);
  row[host_metric("pressure_memory_percent")] = 0;
  row[host_metric("cpu_idle_percent")] = std::min(99.5, 96 - 22 * load - 2 * noise);
}

SnapshotPtr FleetNode::next(WallTime time, double seconds, double share) {
  const auto made = std::make_shared<Snapshot>();
  made->time = time;
  made->hostname = instance();
  const auto since = std::chrono::duration<double>(time.time_since_epoch()).count();
  double load = 0;
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    gpus_[i].is_lost = (number_ * 8 + i) % 401 == 77 && share > 0.5;
    const double own = load_at(since, gpus_[i]);
    load += own / static_cast<double>(gpus_.size());
    made->devices.push_back(device(i, seconds, own));
  }
  add_processes(*made);
  fill_host(made->host, load);
  return made;
}

std::vector<insight::LastingFinding> FleetNode::findings() const {
  std::vector<insight::LastingFinding> all;
  const auto add = [&](insight::FindingId id, insight::Weight weight, std::optional<double> lost, std::uint32_t index) {
    insight::Finding finding{.id = id, .weight = weight, .devices = {DeviceId{.index = index}}, .lost_share = lost};
    all.push_back({.number = all.size() + 1, .over = false, .finding = std::move(finding)});
  };
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    if (gpus_[i].is_throttled && work_ == Work::training) {
      add(insight::FindingId::throttled_thermal, insight::Weight::problem, 0.3, i);
    }
    if (work_ == Work::held) add(insight::FindingId::memory_held_idle, insight::Weight::note, 1, i);
  }
  return all;
}

}  // namespace gpulse::bench
