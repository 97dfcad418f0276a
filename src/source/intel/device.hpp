// SPDX-License-Identifier: Apache-2.0
// All that is kept of one Intel device between two samples: where its files are, and what its counters said last.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source/drm/card.hpp"
#include "source/drm/clients.hpp"
#include "source/drm/pcie_link.hpp"
#include "source/intel/gt.hpp"
#include "source/intel/meters.hpp"
#include "source/intel/pmu.hpp"
#include "source/intel/sensors.hpp"

namespace gpulse::intel {

struct Device {
  drm::Card card;
  bool integrated = false;  // part of the processor, with the host's memory for its own
  std::vector<Gt> gts;
  std::vector<MetricId> engines;  // that the driver tells of; empty: it does not
  Sensors sensors;
  drm::PcieLink link;

  std::vector<EnergyMeter> energy;  // as sensors.energy
  std::vector<ShareMeter> idle;     // as gts
  ShareMeter npu_busy;
  std::optional<drm::Clients> clients;
  std::optional<PmuMeter> pmu;
  bool pmu_tried = false;

  // How busy it is, from the best to the last resort.
  Row counted{Scope::device, Reason::not_supported};  // engines by the performance counters, where they may be used
  Reading use_by_clients = Reason::not_supported;
  Reading awake = Reason::not_supported;

  bool memory_by_driver = false;  // the driver itself told how much is in use
  std::string buffer;             // kept, so that a reading allocates nothing
};

// What a reader needs besides the device.
struct ReaderContext {
  Sysroot root;
  std::shared_ptr<drm::DeviceUsers> device_users;
  OpenCounter open_counter;  // empty: none may be opened
  bool wake = false;         // the device may be kept awake
};

std::unique_ptr<Device> make_device(const ReaderContext &context, const drm::Card &card);

}  // namespace gpulse::intel
