// SPDX-License-Identifier: Apache-2.0
// The driver calls that a sample makes, with the same arguments, and nothing else: what a sample cannot cost less than.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "source/nvml/abi.hpp"
#include "source/nvml/library.hpp"

namespace gpulse::bench {

// One GPU and the room for its answers. Like the sampler, it asks no call, field or GPM metric again that it was told
// it does not have.
class BareDevice {
 public:
  BareDevice(std::shared_ptr<nvml::Api> api, std::uint32_t index);
  BareDevice(const BareDevice &) = delete;
  BareDevice &operator=(const BareDevice &) = delete;
  ~BareDevice();

  // What is read every time.
  void tick();
  // All there is, GPM included.
  void everything();
  // What is read every time and what needs a second reading.
  void rates();

 private:
  struct Calls;
  struct Field {
    std::uint32_t number, scope;
  };
  nvml::Return ask_fields(std::vector<Field> &fields);
  nvml::Return gpm();
  nvml::Return samples(std::uint32_t type, std::uint64_t &last_us);
  nvml::Return processes(const nvml::Api::ProcessList &list);
  nvml::Return process_engines();
  nvml::Return links();

  std::shared_ptr<nvml::Api> api_;
  nvml::Handle handle_ = nullptr;
  std::vector<bool> refused_tick_, refused_rest_;
  std::vector<Field> fast_, slow_;
  std::vector<std::uint32_t> gpm_;
  std::array<nvml::GpmSample, 2> gpm_samples_{};
  std::size_t newest_ = 0;
  bool gpm_ready_ = false;
  std::uint64_t power_us_ = 0, utilization_us_ = 0, engines_us_ = 0;
  std::vector<nvml::Sample> buffer_;
  std::vector<std::byte> rows_;
  std::vector<nvml::ProcessUtilizationInfo> engines_;
};

}  // namespace gpulse::bench
