// SPDX-License-Identifier: Apache-2.0
// What the source remembers about one device between readings. Used by one thread at a time.
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
#include "source/nvml/topology.hpp"

namespace gpulse::nvml {

// How busy a process kept the engines last. The driver's rows are rare, so each stands for a while.
struct ProcessEngines {
  std::uint64_t time_us = 0;
  Monotonic seen{};
  std::uint32_t sm = 0, memory = 0, encoder = 0, decoder = 0, jpeg = 0, ofa = 0;
};

struct ProcessState {
  std::vector<std::byte> buffer;                    // rows of the process lists
  std::vector<ProcessUtilizationInfo> engine_rows;  // rows of the utilisation call
  std::vector<ProcessUtilizationSample> engine_samples;
  std::unordered_map<std::uint32_t, ProcessEngines> engines;
  std::unordered_map<std::uint32_t, std::string> names;  // the driver's, for processes that /proc does not show
  std::uint64_t last_seen_us = 0;
  bool has_jpeg = false;                         // the newer utilisation call works
  Reading engines_reason = Reason::not_sampled;  // for processes without a row
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

// Passed from the event thread to the readers.
struct XidState {
  std::atomic<std::int64_t> last{-1};
  std::atomic<std::uint64_t> total{0};
  std::atomic<Return> listening{Return::no_data};  // success: no error was missed
};

// An instance of a split device: enough to notice that it was replaced by another.
struct Instance {
  std::uint32_t number = 0;  // as nvidia-smi counts them
  Handle handle = nullptr;
  std::uint32_t gpu_instance = kNoInstance, compute_instance = kNoInstance;
  bool operator==(const Instance &) const = default;
};

struct DeviceData {
  Handle handle = nullptr;
  Handle parent = nullptr;  // of an instance
  bool instance = false;
  bool split = false;  // has instances, which are entities of their own
  std::vector<Instance> instances;
  std::uint32_t gpu_instance = kNoInstance;
  std::uint32_t compute_instance = kNoInstance;
  std::uint64_t supported_reasons = 0;  // 0: not asked yet
  std::uint32_t fans = 0;
  std::optional<NvLinks> links;      // read when it is found, where the paths between devices are asked for
  std::string pci;                   // address on the bus, 0000:00:06.0; empty for an instance
  bool integrated = false;           // part of a system on a chip, by its name
  bool memory_of_host = false;       // uses the host's memory: the driver is not asked again
  double link_bytes_per_second = 0;  // the PCIe link's capacity
  std::uint64_t refused_fields = 0;  // one bit per row of the field table
  std::shared_ptr<GpmState> gpm;
  ProcessState processes;
  CounterState pcie_rx, pcie_tx, nvlink_rx, nvlink_tx, throttled_power, throttled_thermal;
  SampleState power_samples, utilization_samples;
  std::shared_ptr<XidState> xid;
  Monotonic last_work = monotonic_now();  // when it was last seen at work
};

// What all readers share: the library, and the version that decides on field numbers.
struct Driver {
  std::shared_ptr<Api> api;
  std::optional<MetricSet> only{};  // read nothing else
  bool either_limit = false;        // as in SourceOptions
  int major = 0, minor = 0;         // of the driver's version
  Sysroot root;

  bool wants(MetricId id) const { return !only || only->contains(id); }
};

}  // namespace gpulse::nvml
