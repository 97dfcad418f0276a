// SPDX-License-Identifier: Apache-2.0
// What the source keeps of one AMD device between readings. Used by one thread at a time.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "source/amdgpu/gpu_metrics.hpp"
#include "source/amdgpu/kfd.hpp"
#include "source/amdgpu/pcie_bandwidth.hpp"
#include "source/api/source.hpp"
#include "source/drm/card.hpp"
#include "source/drm/clients.hpp"
#include "source/drm/device_users.hpp"
#include "source/drm/idle_cards.hpp"
#include "source/drm/pcie_link.hpp"
#include "source/sysfs/sensor_presence.hpp"

namespace gpulse::amdgpu {

// The sensors that are read; their numbers differ from card to card.
enum class Sensor : std::uint8_t { none, die, hotspot, memory, graphics, soc, sclk, mclk, power, fast_power, fan, pwm };
inline constexpr std::size_t kSensors = static_cast<std::size_t>(Sensor::pwm) + 1;

// How busy the parts of a split chip are: written by the reader of the whole, read by those of the parts.
struct PartitionUse {
  std::mutex mutex;
  std::array<std::optional<double>, kMaxPartitions> busy_percent;
};

struct DeviceData {
  drm::Card card;              // for a part: that of the whole; without a folder when only KFD lists the device
  std::string folder;          // with the driver's files for this device; empty when there are none
  std::vector<KfdNode> nodes;  // one for each part
  std::optional<std::size_t> partition;
  std::shared_ptr<PartitionUse> partitions;
  std::shared_ptr<PcieBandwidth> bandwidth;
  std::optional<drm::Clients> clients;  // none when its parts have them
  std::shared_ptr<drm::DeviceUsers> device_users;
  drm::PcieLink link;
  std::array<std::string, kSensors> sensors;  // …/temp2, to be followed by "_input"
  bool integrated = false;
  bool counts_energy = false;  // in a known unit

  sysfs::SensorPresence presence;

  // Metrics that were read from their own file: the values in gpu_metrics are ignored for them.
  std::bitset<kMetricCount> own;
  std::bitset<kMetricCount> from_table;  // those that came from gpu_metrics
  std::optional<GpuMetrics> before;      // for the rates
  Monotonic before_at{};
  std::array<Reading, 3> totals{Reason::not_sampled, Reason::not_sampled, Reason::not_sampled};
  std::string text;  // buffers are kept, so that a reading allocates nothing
  std::string path;

  const std::string &sensor(Sensor which) const { return sensors[static_cast<std::size_t>(which)]; }
};

struct Context {
  const Sysroot &root;
  const SourceOptions &options;
  drm::IdleCards &idle_cards;
  DeviceData &device;
  Monotonic now;
  Frame &frame;
};

}  // namespace gpulse::amdgpu
