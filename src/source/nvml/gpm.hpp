// SPDX-License-Identifier: Apache-2.0
// GPM: what the processors, tensor cores, memory and links really did between two samples (Hopper and newer).
#pragma once

#include <array>
#include <bitset>
#include <memory>

#include "base/clock.hpp"
#include "source/api/source.hpp"
#include "source/nvml/library.hpp"

namespace gpulse::nvml {

struct Driver;
struct DeviceData;

// Keeps two samples: the newer one of this reading is the older one of the next.
class GpmState {
 public:
  explicit GpmState(std::shared_ptr<Api> api) : api_(std::move(api)) {}
  GpmState(const GpmState &) = delete;
  GpmState &operator=(const GpmState &) = delete;
  ~GpmState();

  Outcome read(const Driver &driver, const DeviceData &device, Monotonic now, Frame &frame);

 private:
  Return take(const DeviceData &device);
  Return fill(const Driver &driver, Frame &frame);

  std::shared_ptr<Api> api_;
  std::array<GpmSample, 2> samples_{};
  std::size_t newest_ = 0;
  bool have_one_ = false;
  Monotonic taken_{};
  std::bitset<64> refused_;  // one bit per row of the metric list
};

// The metrics that a GPM reading fills.
std::span<const MetricId> gpm_metrics();

}  // namespace gpulse::nvml
