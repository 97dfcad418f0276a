// SPDX-License-Identifier: Apache-2.0
// What a job did with the GPUs, from its start to its end: how long it was on each, how busy they were, memory, energy,
// what it used of the host, in which phases, and who else was there. JobReporter takes samples while the job runs and
// stays small however long that is; the report is a plain value for views. Pure; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "insight/finding.hpp"
#include "insight/job_curve.hpp"
#include "insight/job_energy.hpp"
#include "insight/job_phases.hpp"
#include "model/snapshot.hpp"

namespace gpulse::insight {

// What all processes of the job together have used since it began, and hold now.
struct JobUse {
  Reading cpu_seconds{}, read_bytes{}, written_bytes{};
  Reading memory_bytes{};
  std::uint32_t processes = 0;
};

// How it ended. By a signal: `code` is 128 and the signal.
struct JobEnd {
  int code = 0;
  int signal = 0;  // 0: by itself
};

inline constexpr std::size_t kActivitySteps = 10;

// A process of somebody else on a GPU of the job.
struct JobNeighbour {
  std::uint32_t pid = 0;
  DeviceId device{};
  Text user, name;
  double seconds = 0;  // there together with the job
  Reading memory_bytes{};
};

struct JobGpu {
  DeviceId id{};
  std::shared_ptr<const DeviceIdentity> identity{};
  bool assumed = false;  // the driver names no processes of ours: told by what the GPU did
  bool shared = false;   // others were there too: utilisation, power and energy are theirs as well
  double first_seconds = 0, last_seconds = 0;  // the job was seen on it, from its start
  double seconds = 0;                          // on it
  Reading busy_seconds{};                      // with a kernel running
  Reading utilization_percent{}, activity_percent{};
  std::array<double, kActivitySteps> activity_histogram{};  // seconds with an activity of 0 to 10 %, …
  Reading memory_bytes{};                                   // the most that the job held
  Reading device_memory_bytes{}, total_memory_bytes{};      // the most that was in use, of all
  Reading power_watts{};
  std::optional<JobEnergy> energy{};
  Reading energy_reason{};  // where there is none
  std::string framework{};  // empty: not known
  JobCurve activity{}, utilization{}, memory{Fold::maximum}, device_memory{Fold::maximum}, power{};
};

// A finding of the job's life, however often it came back.
struct JobFinding {
  struct Stretch {
    double from_seconds = 0, to_seconds = 0;  // from the job's start
  };
  Finding finding{};
  double seconds = 0;                // that it lasted, all in all
  std::vector<Stretch> stretches{};  // the first ones
};

struct JobReport {
  std::vector<std::string> command{};  // as given: not safe to print
  Text hostname{};
  WallTime begin{}, end{};
  JobEnd how{};
  double interval_seconds = 0;
  std::uint64_t samples = 0;
  double unseen_seconds = 0;  // of the job, in which no sample came
  bool gpus_found = false;
  Text absence{};  // why there is none, or why nothing could be read

  JobUse use{};            // at the end
  Reading memory_bytes{};  // the most that the job held of the host's memory
  Reading host_memory_total_bytes{}, host_cores{};
  std::uint32_t processes = 0;     // at most
  std::uint32_t left_running = 0;  // when the job was over
  JobCurve cores{}, host_memory{Fold::maximum}, read_rate{}, write_rate{};

  std::vector<JobGpu> gpus{};  // those that the job was on
  std::vector<JobPhase> phases{};
  std::vector<JobNeighbour> neighbours{};  // those that held most memory
  std::size_t neighbour_count = 0;
  std::optional<FindingId> verdict{};
  std::vector<JobFinding> findings{};  // the worst first

  double seconds() const { return Seconds(end - begin).count(); }
  // Of all GPUs together; none where one of them has none.
  std::optional<JobEnergy> energy() const;
};

// Whether a process is one of the job's.
using IsOurs = std::function<bool(const Process &)>;

class JobReporter {
 public:
  JobReporter(WallTime begin, std::chrono::nanoseconds interval);

  // A sample that came while the job ran, or the first one after its end. Those older than the one before are left out.
  // `use` where it was looked at meanwhile.
  void add(const Snapshot &sample, const IsOurs &is_ours, const std::optional<JobUse> &use);
  // What the sample says of the job's GPUs, and nothing of others; null as long as it is on none.
  SnapshotPtr part_of(const Snapshot &sample) const;
  // Everything but the findings.
  JobReport report(WallTime end, const JobEnd &how) const;

 private:
  struct Gpu {
    JobGpu shown;
    bool used = false;
    Reading idle_memory_bytes{};  // before the job was there
    int rises = 0;                // samples in a row with more than that
    TimeMean utilization{}, activity{}, power{};
    EnergyMeter meter{};
  };
  struct Step {
    double from = 0, to = 0;  // seconds from the job's start
    double seconds() const { return to - from; }
  };
  std::optional<Step> step_to(WallTime time);
  Gpu &gpu_of(const Device &device);
  // The rise, where the job is assumed to be on a GPU whose processes nobody names.
  std::optional<double> assumed_memory(Gpu &gpu, const Reading &unexplained) const;
  void look_at(const Snapshot &sample, const Device &device, const Step &step, const IsOurs &is_ours);
  void add_neighbours(const Snapshot &sample, const Device &device, const Step &step, const IsOurs &is_ours);
  void add_host(const Snapshot &sample, const std::optional<JobUse> &use, const Step &step);

  JobReport report_;
  double longest_step_;
  double last_ = 0;                    // the sample before, in seconds from the start
  std::map<std::string, Gpu> gpus_{};  // by UUID
  std::map<std::pair<std::uint32_t, DeviceId>, JobNeighbour> neighbours_{};
  PhaseTracker phases_{};
  bool named_ = false;                                       // the driver has named a process of the job
  bool busy_ = false, present_ = false, seen_busy_ = false;  // of the sample at hand
  JobUse before_{};
  double used_until_ = 0;  // when that was, in seconds from the start
};

}  // namespace gpulse::insight
