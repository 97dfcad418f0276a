// SPDX-License-Identifier: Apache-2.0
// The size of a card's own memory and how much of it is in use. Neither driver shows them in /sys: the kernel's control
// groups know the size, and the drivers report both through an ioctl on the render node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/sysroot.hpp"
#include "source/drm/card.hpp"

namespace gpulse::intel {

struct CardMemory {
  std::uint64_t total = 0;
  std::uint64_t used = 0;
  bool operator==(const CardMemory &) const = default;
};

// The card's own memory according to the text of dmem.capacity; none when it has no line there.
std::optional<std::uint64_t> parse_dmem_capacity(std::string_view text, std::string_view pci);

// Parse the drivers' answers. None when an answer is truncated or has no memory of the card's own.
std::optional<CardMemory> parse_i915_regions(std::span<const std::byte> answer);
std::optional<CardMemory> parse_xe_regions(std::span<const std::byte> answer);

// Asks the driver. The card must be awake: opening its node would wake it.
std::optional<CardMemory> query_memory(const drm::Card &card);

// The drivers report the use only to processes with CAP_PERFMON or CAP_SYS_ADMIN; to others they say that nothing is in
// use. `status` is the text of /proc/self/status.
bool may_see_use(std::string_view status);

}  // namespace gpulse::intel
