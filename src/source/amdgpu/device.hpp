// SPDX-License-Identifier: Apache-2.0
// What the source keeps of one AMD device from one reading to the next. Belongs to the entity's own thread.
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

namespace gpulse::amdgpu {

// The sensors that are read, whatever their numbers are on this card.
enum class Sensor : std::uint8_t { none, die, hotspot, memory, graphics, soc, sclk, mclk, power, fast_power, fan, pwm };
inline constexpr std::size_t kSensors = static_cast<std::size_t>(Sensor::pwm) + 1;

// What the parts of a split chip do, as the whole of it tells: written by the whole, read by the parts.
struct PartitionUse {
  std::mutex mutex;
  std::array<std::optional<double>, kMostPartitions> busy_percent;
};

struct DeviceData {
  drm::Card card;              // of the whole, where this is a part; without a folder where only KFD shows the device
  std::string folder;          // of the driver's files that tell of this device; empty where there are none
  std::vector<KfdNode> nodes;  // of KFD, one for each part
  std::optional<std::size_t> partition;
  std::shared_ptr<PartitionUse> partitions;
  std::shared_ptr<PcieBandwidth> bandwidth;
  std::optional<drm::Clients> clients;  // none where its parts have them
  std::shared_ptr<drm::DeviceUsers> device_users;
  drm::PcieLink link;
  std::array<std::string, kSensors> sensors;  // …/temp2, to be followed by "_input"
  bool integrated = false;
  bool counts_energy = false;  // in units that are known

  // Which metrics a file of their own has given: what gpu_metrics says of them is not wanted.
  std::bitset<kMetricCount> own;
  std::bitset<kMetricCount> from_table;  // which gpu_metrics has given
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
