// SPDX-License-Identifier: Apache-2.0
// A made-up machine of a fleet: eight H100 that train with the machines beside it, serve, or stand idle; some are
// throttled, lost, or silent. The same number is always the same machine. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fleet/series.hpp"
#include "insight/watch.hpp"
#include "model/snapshot.hpp"

namespace gpulse::bench {

class FleetNode {
 public:
  FleetNode(std::uint32_t number, std::uint32_t gpus);

  std::string instance() const;
  std::string cluster() const;
  // `share`: of the whole time, from 0 to 1; trouble begins in its course.
  bool is_silent(double share) const { return number_ % 97 == 50 && share > 0.75; }
  // Its state at the next moment, so many seconds after the one before.
  SnapshotPtr next(WallTime time, double seconds, double share);
  // What lasts now.
  std::vector<insight::LastingFinding> findings() const;

 private:
  enum class Work : std::uint8_t { training, serving, held, nothing };
  // Noise that moves from where it was, around 0, with a spread of 1.
  struct Noise {
    double value = 0;
    double next(std::mt19937 &random);
  };
  struct Gpu {
    std::shared_ptr<const DeviceIdentity> identity;
    Noise use, power, temperature, clock, memory, links;
    double joules = 0, used_bytes = 0;
    bool is_throttled = false, is_lost = false;
  };

  double load_at(double seconds, Gpu &gpu);
  Device device(std::uint32_t index, double seconds, double load);
  void add_processes(Snapshot &to) const;
  void fill_host(Row &row, double load);

  std::uint32_t number_, job_;
  Work work_;
  std::mt19937 random_;
  std::vector<Gpu> gpus_;
  std::shared_ptr<const TextRow> owner_;
  Noise cpu_;
};

}  // namespace gpulse::bench
