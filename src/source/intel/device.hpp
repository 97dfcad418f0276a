// SPDX-License-Identifier: Apache-2.0
// What is kept of one Intel device between samples: where its files are, and the last values of its counters. Used by
// one thread at a time.
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
#include "source/sysfs/sensor_presence.hpp"

namespace gpulse::intel {

struct Device {
  drm::Card card;
  bool integrated = false;  // part of the processor; uses the host's memory
  std::vector<Gt> gts;
  std::vector<MetricId> engines;  // that the driver lists; empty: it lists none
  Sensors sensors;
  drm::PcieLink link;

  std::vector<EnergyMeter> energy;  // one per sensors.energy
  std::vector<ShareMeter> idle;     // one per gts
  ShareMeter npu_busy;
  sysfs::SensorPresence presence;
  std::optional<drm::Clients> clients;
  std::optional<PmuMeter> pmu;
  bool pmu_tried = false;

  // How busy it is, the best source first.
  Row counted{Scope::device, Reason::not_supported};  // by performance counters, if we may use them
  Reading use_by_clients = Reason::not_supported;
  Reading awake = Reason::not_supported;

  bool memory_by_driver = false;  // the driver itself reports the memory in use
  std::string buffer;             // kept so that a reading allocates nothing
};

// What a reader needs besides the device.
struct ReaderContext {
  Sysroot root;
  std::shared_ptr<drm::DeviceUsers> device_users;
  OpenCounter open_counter;  // empty: there are no counters
  bool wake = false;         // the device may be kept awake
};

std::unique_ptr<Device> make_device(const ReaderContext &context, const drm::Card &card);

}  // namespace gpulse::intel
