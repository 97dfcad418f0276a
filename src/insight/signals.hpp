// SPDX-License-Identifier: Apache-2.0
// What the rules look at: one device over a stretch of time, in a few numbers. Made of samples by measure(); a test
// makes its own. Plain values; a number that is not known is none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/finding.hpp"
#include "insight/series.hpp"

namespace gpulse::insight {

using Number = std::optional<double>;

// A process on the device, with the job that it stands for.
struct JobSignals {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::string name{}, command{}, parent_name{}, framework{};  // empty: not known
  bool compute = false;
  bool ended = false;       // not there any more in the last sample
  Number age_seconds{};     // when the stretch began
  Number cpu_percent{};     // of the whole job, 100 is a core
  Number processes{};       // of the job
  Number busy_processes{};  // that use a whole core
  Number read_bytes_per_second{}, write_bytes_per_second{};
  Number disk_wait_percent{};
  Number pressure_io_percent{}, pressure_cpu_percent{};  // of its control group
  Number host_memory_bytes{};
  Series memory{};  // on the device, in bytes
};

struct HostSignals {
  Number cores{}, cpu_percent{}, iowait_percent{}, pressure_io_percent{};
  Number read_bytes_per_second{}, network_bytes_per_second{};
  Number memory_bytes{}, memory_total_bytes{}, memory_available_bytes{}, swap_used_bytes{}, swap_total_bytes{};
  Number idle_cores() const {
    if (!cores || !cpu_percent) return std::nullopt;
    return *cores * (1 - *cpu_percent / 100);
  }
};

struct DeviceSignals {
  DeviceId id{};
  std::string uuid{};
  WallTime begin{};    // of the first sample that counts
  double seconds = 0;  // from the first sample that counts to the last
  std::size_t samples = 0;
  bool starting = false;  // nothing but the start of a job was seen
  bool lost = false;      // fallen off the bus, or it does not answer
  bool knows_processes = true;

  // In percent of the time, as means.
  Number utilization{}, active{}, sm{}, tensor{}, tensor_fp64{}, fp64{}, fp32{}, fp16{}, integer{}, dram{},
      controller{};
  Number video{};     // the busiest of the engines for video and pictures
  Series activity{};  // over time: of the processors, where they tell; else the utilisation
  Number power_watts{}, power_share{},
      power_spread_share{};  // of the limit; spread: from the 10th to the 90th percentile
  Number clock_share{};      // of the highest
  Number receive_bytes_per_second{}, send_bytes_per_second{}, link_bytes_per_second{};
  Number link_generation{}, link_generation_max{}, link_width{}, link_width_max{};
  Number capped_share{}, thermal_share{}, hardware_share{};  // of the time, held back so
  Number memory_total_bytes{};
  Series memory{};  // in bytes
  std::vector<JobSignals> jobs{};
  HostSignals host{};
  std::vector<Event> events{};              // of the device, within the stretch
  std::vector<Fact> troubles{}, worries{};  // readings about its health that are bad, or deserve a look

  // Whether it tells how many of its processors work, which a utilisation does not.
  bool tells_work() const { return sm.has_value() && busy_percent().has_value(); }
  // Kernels ran for so much of the time.
  Number busy_percent() const { return active ? active : utilization; }
  // How much of the GPU is at work while kernels run, from 0 to 1.
  Number fill() const;
  // What comes in over PCIe for each second in which kernels run: launching them takes some hundred megabytes, data for
  // them several times as much.
  Number fed_bytes_per_kernel_second() const;
  Number memory_used_bytes() const { return memory.last(); }
  // Of all its jobs together; none where no job tells.
  Number job_sum(Number JobSignals::*of) const;
  // How much of the time in which the GPU waits the jobs compute on the CPU, from 0 to 1 or more.
  Number cpu_while_waiting() const;
  bool has_compute_job() const;
  std::vector<std::uint32_t> pids() const;
  std::string framework() const;  // of the first job that tells
};

// One of each device that is there in any of the samples, by number; those that are split give way to their instances.
std::vector<DeviceSignals> measure(std::span<const SnapshotPtr> samples);

}  // namespace gpulse::insight
