// SPDX-License-Identifier: Apache-2.0
// What the source remembers about one device between readings. Touched by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "model/plausible.hpp"
#include "source/nvml/abi.hpp"
#include "source/nvml/gpm.hpp"
#include "source/nvml/library.hpp"

namespace gpulse::nvml {

// Newest use of the engines by one process; rows come seldom, so each stands for a while.
struct ProcessEngines {
  std::uint64_t time_us = 0;
  Monotonic seen{};
  std::uint32_t sm = 0, memory = 0, encoder = 0, decoder = 0;
  std::uint32_t jpeg = kValueAbsent, ofa = kValueAbsent;
  static constexpr std::uint32_t kValueAbsent = 0xFFFFFFFF;
};

struct ProcessState {
  std::vector<std::byte> buffer;                    // rows of the process lists
  std::vector<ProcessUtilizationInfo> engine_rows;  // rows of the utilisation call
  std::vector<ProcessUtilizationSample> engine_samples;
  std::unordered_map<std::uint32_t, ProcessEngines> engines;
  std::unordered_map<std::uint32_t, std::string> names;  // the driver's, of those that our /proc does not show
  std::uint64_t last_seen_us = 0;
  bool tells_jpeg = false;                       // the newer utilisation call answers
  Reading engines_reason = Reason::not_sampled;  // what a process without a row of its own shows
};

// A counter read twice gives a rate.
struct CounterState {
  std::uint64_t value = 0;
  Monotonic time{};
  bool known = false;
};

struct SampleState {
  std::vector<Sample> buffer;
  std::uint64_t last_us = 0;
};

// What the event thread tells the readers.
struct XidState {
  std::atomic<std::int64_t> last{-1};
  std::atomic<std::uint64_t> total{0};
  std::atomic<Return> listening{Return::no_data};  // success: `total` tells of all there were
};

struct DeviceData {
  Handle handle = nullptr;
  Handle parent = nullptr;  // of an instance
  bool instance = false;
  bool split = false;  // has instances that are listed as devices
  std::uint32_t gpu_instance = kNoInstance;
  std::uint32_t compute_instance = kNoInstance;
  std::uint64_t supported_reasons = 0;  // 0: not asked yet
  std::uint32_t fans = 0;
  std::string pci;                   // address on the bus, 0000:00:06.0; empty for an instance
  bool integrated = false;           // part of a system on a chip, by its name
  bool memory_of_host = false;       // has no memory but the host's: the driver need not be asked again
  double link_bytes_per_second = 0;  // what the PCIe link could carry at most
  std::uint64_t refused_fields = 0;  // one bit per row of the field table
  std::shared_ptr<GpmState> gpm;
  ProcessState processes;
  CounterState pcie_rx, pcie_tx, nvlink_rx, nvlink_tx, held_power, held_thermal;
  SampleState power_samples, utilization_samples;
  bool throughput_read = false;  // at least once
  std::shared_ptr<XidState> xid;
  Monotonic last_work = monotonic_now();  // when it was last seen at work
};

// Context of every reader: the library, and which field numbers this driver means.
struct Driver {
  std::shared_ptr<Api> api;
  std::optional<MetricSet> only{};  // nothing else is asked for
  int major = 0, minor = 0;         // of the driver's version
  Sysroot root;
};

}  // namespace gpulse::nvml
