// SPDX-License-Identifier: Apache-2.0
// All GPUs of all hosts at one moment, as an engine knows them: plain values that are never changed once they are out.
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "fleet/fleet_keys.hpp"
#include "fleet/fleet_queries.hpp"
#include "fleet/query_answer.hpp"
#include "insight/catalogue.hpp"
#include "insight/finding.hpp"

namespace gpulse::fleet {

// Who tells of a host.
enum class Exporter : std::uint8_t { gpulse, dcgm, nvidia_smi };
std::string_view word(Exporter exporter);

// The worst last. `silent`: the host is; `gone`: it was there today, and its host goes on without it.
enum class GpuState : std::uint8_t { ok, asleep, silent, gone, not_responding, lost };
inline constexpr std::size_t kGpuStates = static_cast<std::size_t>(GpuState::lost) + 1;
std::string_view word(GpuState state);

// Empty: not known, or there is none.
struct FleetOwner {
  Text user{}, job{}, account{}, pod{};
  Text cluster{};  // where another cluster has such a job

  bool operator==(const FleetOwner &) const = default;
};

struct FleetFinding {
  Text id{};  // as the host's agent calls it, which may be of another version
  insight::Weight weight = insight::Weight::ok;

  // Empty for one that this version does not know.
  std::string_view title() const {
    const auto known = insight::finding_named(id.str());
    return known ? insight::describe(*known).title : std::string_view();
  }

  bool operator==(const FleetFinding &) const = default;
};

// What is remarkable about a GPU beside its sisters; `value` and `usual` in the unit of the metric.
struct FleetRemark {
  insight::RemarkId id = insight::RemarkId::slower_clock;
  insight::Weight weight = insight::Weight::note;
  MetricId metric{};
  double value = 0, usual = 0;  // its own, and the median of the others
  std::size_t others = 0;       // that it was compared with
  Text text{};                  // one sentence, with the numbers

  bool operator==(const FleetRemark &) const = default;
};

struct FleetHost {
  std::string instance{};  // the label as it came
  Text name{}, cluster{};
  Exporter exporter = Exporter::gpulse;
  std::optional<WallTime> last{};       // its newest sample
  std::optional<Seconds> silent_for{};  // none: it is not
  bool is_since_unknown = false;        // it is silent, for at least that time
  // Hosts of several clusters have this instance: the cluster stands in the name, and is needed to find its series.
  bool shares_instance = false;
  std::string cluster_label{};    // as it came
  bool has_agent_beside = false;  // of this instance an agent tells too, and is another host
};

// What nobody tells of a GPU: its host has another exporter, is silent, or the question failed.
struct FleetUntold {
  bool state = false, findings = false, errors = false, idle = false;
};

struct FleetGpu {
  std::size_t host = 0;
  std::string uuid{};    // the label as it came
  std::string parent{};  // the uuid of the GPU that it is an instance of
  Text id{}, name{}, vendor{}, pci{};
  GpuState state = GpuState::ok;
  std::array<std::optional<double>, kFleetReadings> readings{};
  std::optional<bool> held{};  // none: nobody tells
  bool idle = false;           // held, and hardly a kernel ran for a quarter of an hour
  std::vector<FleetOwner> owners{};
  std::vector<FleetFinding> findings{};  // the worst first
  std::vector<std::uint32_t> errors{};   // the driver's, of the last quarter of an hour (XID)
  FleetUntold untold{};
  std::array<std::optional<double>, kFleetSteady> steady{};
  bool is_settled = false;             // who holds it did so ten minutes ago
  std::vector<FleetRemark> remarks{};  // the worst first
  const std::optional<double> &operator[](FleetReading reading) const {
    return readings[static_cast<std::size_t>(reading)];
  }
  const std::optional<double> &operator[](FleetSteady reading) const {
    return steady[static_cast<std::size_t>(reading)];
  }
};

// A question that has no answer, or none that is new.
struct FleetFault {
  Text what{}, why{};
  std::optional<FleetPart> part{};
  std::optional<WallTime> as_of{};  // of the answer that stands in for it
};

struct FleetSnapshot {
  WallTime at{};
  Text place{};    // the engine
  Text warning{};  // something is missing, in the engine's words
  std::vector<FleetHost> hosts{};
  std::vector<FleetGpu> gpus{};  // of a host together, an instance behind its GPU
  std::vector<FleetFault> faults{};
};

// Why a reading is not there.
std::string_view why_unknown(const FleetSnapshot &fleet, const FleetGpu &gpu, FleetReading reading);

// What is known of one exporter's hosts: the answers to its queries. Those that are missing are null.
struct FleetAnswers {
  std::span<const EngineSeries> infos{};
  FleetParts parts{};
  std::span<const EngineSeries> last_alive{};  // of hosts that are silent
  bool knows_silent = false;                   // whoever is not in it was not there in the last day
};
struct ForeignExporter;
struct ForeignAnswers {
  const ForeignExporter *exporter = nullptr;
  std::span<const EngineSeries> present{};
  std::vector<const std::vector<EngineSeries> *> readings{};  // in the order of the exporter's
};

// `interval`: between two samples of most hosts.
FleetSnapshot make_fleet(const FleetAnswers &answers, std::span<const ForeignAnswers> foreign, WallTime at,
                         Seconds interval);

// The instances of hosts of the infos that have no sample now.
std::vector<std::string> missing_hosts(const FleetAnswers &answers);

}  // namespace gpulse::fleet
