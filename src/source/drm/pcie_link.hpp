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

// Whose files tell of the link; found once per card.
struct PcieLink {
  // Many cards carry a switch of their own, and the chip's link to that is not the one to the machine: the folder of
  // the switch's upper end, else of the chip itself. Empty where neither tells the truth.
  std::string folder;
  std::string slot;    // the port on the machine's side; empty where it does not show
  std::string device;  // the chip itself: errors are counted there
};

PcieLink find_pcie_link(const Sysroot &root, const Card &card);

inline constexpr std::array kPcieLinkMetrics{
    device_metric("pcie_link_generation"), device_metric("pcie_link_width"), device_metric("pcie_link_generation_max"),
    device_metric("pcie_link_width_max"), device_metric("pcie_link_generation_device_max")};
// The port of a sleeping card answers only after it was woken: ask a card that is awake.
void read_pcie_link(const Sysroot &root, const PcieLink &link, Row &row, std::string &buffer);

inline constexpr std::array kPcieErrorMetrics{device_metric("pcie_errors_corrected_total"),
                                              device_metric("pcie_errors_nonfatal_total"),
                                              device_metric("pcie_errors_fatal_total")};
void read_pcie_errors(const Sysroot &root, const PcieLink &link, Row &row, std::string &buffer);

// "16.0 GT/s PCIe" is generation 4; none for "Unknown" and for speeds that no generation has.
std::optional<int> parse_pcie_generation(std::string_view text);

// The count after the word that starts with "TOTAL_ERR_", the last line of the kernel's list.
std::optional<double> parse_pcie_errors(std::string_view text);

}  // namespace gpulse::drm
