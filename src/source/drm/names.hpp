// SPDX-License-Identifier: Apache-2.0
// What a card is called in a shop: from the name tables that other packages install, libdrm's amdgpu.ids and the bus's
// pci.ids. One id of AMD's covers many products, which only the revision tells apart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/sysroot.hpp"
#include "source/drm/card.hpp"

namespace gpulse::drm {

// The product in the text of amdgpu.ids; empty when it is not there.
std::string_view find_amd_name(std::string_view table, std::uint32_t product, std::uint32_t revision);

// What the text of pci.ids has: empty where it has nothing.
struct PciNames {
  std::string_view vendor, device, subsystem;
};
PciNames find_pci_names(std::string_view table, std::uint32_t vendor, std::uint32_t product, std::uint32_t subvendor,
                        std::uint32_t subproduct);

// "AMD", "Intel"; the kernel's number where it is neither of the well-known ones.
std::string vendor_word(std::uint32_t vendor);

// Reads the tables when first asked for a card, and keeps the answer.
class Names {
 public:
  explicit Names(Sysroot root) : root_(std::move(root)) {}

  // `hint`: what the driver itself calls it, for a card that is in no table.
  std::string product(const Card &card, std::string_view hint = {});

 private:
  std::string look_up(const Card &card) const;
  std::string from_pci_table(const Card &card) const;
  std::optional<std::string> read_table(std::string_view path) const;

  Sysroot root_;
  std::map<std::string, std::string> known_;
};

}  // namespace gpulse::drm
