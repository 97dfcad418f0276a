// SPDX-License-Identifier: Apache-2.0
// The kernel's performance counters for Intel GPUs: how busy each engine is, for all users together. They need
// CAP_PERFMON. i915's cost nothing; xe's keep the GPU awake while they are open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sysroot.hpp"
#include "metric/table.hpp"
#include "model/row.hpp"
#include "source/drm/card.hpp"
#include "source/intel/gt.hpp"

namespace gpulse::intel {

// Bits of an event's number, both ends included.
struct BitRange {
  unsigned low = 0, high = 0;
  bool operator==(const BitRange &) const = default;
};
using Format = std::vector<BitRange>;

// Parses "config:20-27", "config:0", "config:0-7,32-35"; empty when it is not in the first word.
Format parse_format(std::string_view text);

struct Term {
  std::string_view name;
  std::uint64_t value = 1;  // a name without a value is a flag
  bool operator==(const Term &) const = default;
};
// Parses "config=0x100000", "event=0x02,gt=0x1"; empty when any part cannot be parsed.
std::vector<Term> parse_event(std::string_view text);

// The kernel's description of one set of counters.
struct Pmu {
  std::uint32_t type = 0;
  std::uint32_t cpu = 0;  // the one to open them on
  std::map<std::string, Format, std::less<>> formats;
  std::map<std::string, std::string, std::less<>> events;  // name to text for parse_event()

  // The event's number; none when a term has no format or its value does not fit.
  std::optional<std::uint64_t> encode(std::span<const Term> terms) const;
};

// "i915" for graphics in the processor, else "i915_0000_03_00.0"; "xe_0000_03_00.0" always.
std::string pmu_name(const drm::Card &card, bool integrated);
std::optional<Pmu> read_pmu(const Sysroot &root, const std::string &name);

// The counters of one engine: `busy` relative to `total`, or to time when there is no such counter.
struct PmuEngine {
  MetricId metric;
  std::uint64_t busy = 0;
  std::optional<std::uint64_t> total;
};
std::vector<PmuEngine> i915_pmu_engines(const Pmu &pmu);
// All engines there might be. Most do not exist, and their counters cannot be opened.
std::vector<PmuEngine> xe_pmu_engines(const Pmu &pmu, std::span<const Gt> gts);

// An open counter.
class Counter {
 public:
  struct Count {
    std::uint64_t value = 0, enabled_ns = 0;
  };
  Counter() = default;
  Counter(const Counter &) = delete;
  Counter &operator=(const Counter &) = delete;
  virtual ~Counter() = default;
  virtual std::optional<Count> read() = 0;
};
// Null, with errno set, when it cannot be opened.
using OpenCounter =
    std::function<std::unique_ptr<Counter>(std::uint32_t type, std::uint64_t config, std::uint32_t cpu)>;
std::unique_ptr<Counter> open_perf_counter(std::uint32_t type, std::uint64_t config, std::uint32_t cpu);

// The open counters of one device's engines.
class PmuMeter {
 public:
  PmuMeter(const Pmu &pmu, std::span<const PmuEngine> engines, const OpenCounter &open);

  bool empty() const { return engines_.empty(); }
  // Fills the metrics of the engines that it has, as a mean over engines of the same kind; not_sampled the first time.
  void update(Row &row);

 private:
  struct Engine {
    MetricId metric;
    std::unique_ptr<Counter> busy, total;
    std::optional<Counter::Count> past;  // of busy, and of the total
  };
  static Reading share(Engine &engine);

  std::vector<Engine> engines_;
};

}  // namespace gpulse::intel
