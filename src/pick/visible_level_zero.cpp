// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "pick/mask.hpp"
#include "pick/visible.hpp"

namespace gpulse::pick {

namespace {

constexpr const char *kMask = "ZE_AFFINITY_MASK", *kHierarchy = "ZE_FLAT_DEVICE_HIERARCHY";

}  // namespace

// An NPU is a device of another driver of Level Zero, which the mask does not number.
std::vector<std::size_t> level_zero_devices(std::span<const Device> devices) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto *identity = devices[i].identity.get();
    if (identity == nullptr || identity->vendor != "intel" || identity->source == "drm") continue;
    if (!devices[i].is_instance() && !identity->name.contains("NPU")) found.push_back(i);
  }
  return found;
}

// Numbers count cards: right for cards of one tile, and for all where the hierarchy is COMPOSITE. The order of the
// entries has no meaning, and what does not fit is left out by the driver, which then goes on.
Visible visible_to_level_zero(std::span<const Device> devices, const Environment &environment) {
  Visible out;
  const auto cards = level_zero_devices(devices);
  if (cards.empty()) return out;
  out.devices = cards;
  const auto mask = environment(kMask);
  if (mask && !mask->empty() && *mask != "default") {
    out.method = Method::mask;
    out.devices.clear();
    const bool composite = environment(kHierarchy) == "COMPOSITE";
    std::vector<bool> shown(cards.size());
    for (const auto entry : split(*mask, ',')) {
      const auto card = entry.substr(0, entry.find('.'));
      const auto number = parse_integer<std::uint32_t>(trim(card));
      if (!number) {
        ignore(out, kMask, entry, "is not a number");
      } else if (*number >= cards.size()) {
        ignore(out, kMask, entry, fmt::format("there is no GPU of this number: {}, counted from 0", cards.size()));
      } else if (card.size() != entry.size() && !composite) {
        ignore(out, kMask, entry, fmt::format("tiles are named only with {}=COMPOSITE", kHierarchy));
      } else {
        shown[*number] = true;
      }
    }
    for (std::size_t i = 0; i < cards.size(); ++i) {
      if (shown[i]) out.devices.push_back(cards[i]);
    }
    if (out.devices.empty()) out.problem = fmt::format("{} leaves no Intel GPU", kMask);
  }
  out.allowed = out.devices;
  return out;
}

}  // namespace gpulse::pick
