// SPDX-License-Identifier: Apache-2.0
// A card's PCIe traffic. Reading the driver's file takes a second, in which it counts, so a thread of its own does it,
// now and then and only while somebody asks. ask() may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/sysroot.hpp"
#include "model/reading.hpp"

namespace gpulse::amdgpu {

struct Traffic {
  Reading rx_bytes_per_second = Reason::not_sampled, tx_bytes_per_second = Reason::not_sampled;
};

// Parses "received sent largest": packets per second, and the maximum size of one.
std::optional<Traffic> parse_pcie_bandwidth(std::string_view text);

class PcieBandwidth {
 public:
  // `device`: the card's folder.
  PcieBandwidth(const Sysroot &root, std::string device);
  PcieBandwidth(const PcieBandwidth &) = delete;
  PcieBandwidth &operator=(const PcieBandwidth &) = delete;
  ~PcieBandwidth();

  // The newest result; requests a newer one.
  Traffic ask();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace gpulse::amdgpu
