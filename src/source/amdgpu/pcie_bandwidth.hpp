// SPDX-License-Identifier: Apache-2.0
// The traffic of a card over PCIe. The driver counts for a whole second while the file is being read, so that a thread
// of its own reads it, now and then and only while somebody asks.
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

// "received sent largest": messages in a second, and the bytes that one holds at most; none where it is no such text.
std::optional<Traffic> parse_pcie_bandwidth(std::string_view text);

class PcieBandwidth {
 public:
  // `device`: the card's folder.
  PcieBandwidth(const Sysroot &root, std::string device);
  PcieBandwidth(const PcieBandwidth &) = delete;
  PcieBandwidth &operator=(const PcieBandwidth &) = delete;
  ~PcieBandwidth();

  // The newest that is known; asks for a newer one.
  Traffic ask();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace gpulse::amdgpu
