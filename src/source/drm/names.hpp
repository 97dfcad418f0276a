// SPDX-License-Identifier: Apache-2.0
// Product names of cards, from libdrm's amdgpu.ids and from pci.ids: those that other packages have installed, and for
// what they do not know those that are compiled in (data/gpu_names). AMD uses one id for many products, which differ
// only in their revision.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/sysroot.hpp"
#include "source/drm/card.hpp"

namespace gpulse::drm {

// The product in the text of amdgpu.ids; empty when it has none. Without a revision, the product that all of them are.
std::string_view find_amd_name(std::string_view table, std::uint32_t product, std::optional<std::uint32_t> revision);

// The names in the text of pci.ids; empty where it has none.
struct PciNames {
  std::string_view vendor, device, subsystem;
};
PciNames find_pci_names(std::string_view table, std::uint32_t vendor, std::uint32_t product, std::uint32_t subvendor,
                        std::uint32_t subproduct);

// Which of the products that share an id ("Radeon RX 7900 XT/7900 XTX") a maker's name of the board tells ("NITRO+ RX
// 7900 XTX Vapor-X"); empty when it tells none.
std::string narrowed(std::string_view products, std::string_view board);

// "AMD", "Intel"; the number for less well-known vendors.
std::string vendor_word(std::uint32_t vendor);

// Reads the tables when first asked for a card, and remembers the answer. Not thread-safe.
class Names {
 public:
  explicit Names(Sysroot root) : root_(std::move(root)) {}

  // `hint`: the driver's own name, for a card that is in no table.
  std::string product(const Card &card, std::string_view hint = {});

 private:
  std::string look_up(const Card &card) const;
  std::string from_amd_tables(std::uint32_t product, std::optional<std::uint32_t> revision) const;
  std::string from_pci_tables(const Card &card) const;
  std::optional<std::string> read_table(std::string_view path) const;

  Sysroot root_;
  std::map<std::string, std::string> known_;
};

}  // namespace gpulse::drm
