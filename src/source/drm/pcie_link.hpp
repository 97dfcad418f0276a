// SPDX-License-Identifier: Apache-2.0
// The PCIe link between a card and the machine, and the errors that the kernel counted on it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/sysroot.hpp"
#include "model/row.hpp"
#include "source/drm/card.hpp"

namespace gpulse::drm {

// The folders with the files of the link; found once per card.
struct PcieLink {
  // Many cards have a PCIe switch of their own, and the chip's link to it is not the link to the machine. So this is
  // the upstream port of the switch, or the chip itself where there is none. Empty when neither reports the truth.
  std::string folder;
  std::string slot;    // the port on the machine's side; empty when it is not visible
  std::string device;  // the chip itself, where errors are counted
};

PcieLink find_pcie_link(const Sysroot &root, const Card &card);

inline constexpr std::array kPcieLinkMetrics{
    device_metric("pcie_link_generation"), device_metric("pcie_link_width"), device_metric("pcie_link_generation_max"),
    device_metric("pcie_link_width_max"), device_metric("pcie_link_generation_device_max")};
// Only for a card that is awake: reading from the port of a sleeping one wakes it.
void read_pcie_link(const Sysroot &root, const PcieLink &link, Row &row, std::string &buffer);

inline constexpr std::array kPcieErrorMetrics{device_metric("pcie_errors_corrected_total"),
                                              device_metric("pcie_errors_nonfatal_total"),
                                              device_metric("pcie_errors_fatal_total")};
void read_pcie_errors(const Sysroot &root, const PcieLink &link, Row &row, std::string &buffer);

// 4 for "16.0 GT/s PCIe"; none for "Unknown" and for speeds of no generation.
std::optional<int> parse_pcie_generation(std::string_view text);

// The count after the word that starts with "TOTAL_ERR_" in the last line.
std::optional<double> parse_pcie_errors(std::string_view text);

}  // namespace gpulse::drm
