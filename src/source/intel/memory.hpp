// SPDX-License-Identifier: Apache-2.0
// How much memory of its own a card has and how much of it is in use. Neither driver tells in /sys: the kernel's
// control groups know the size, the drivers answer both to a question (ioctl) on the render node.
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

// All of the card's own memory out of the text of dmem.capacity; none where it has no line there.
std::optional<std::uint64_t> parse_dmem_capacity(std::string_view text, std::string_view pci);

// The drivers' answers. None when the answer is cut short or names no memory of the card's own.
std::optional<CardMemory> parse_i915_regions(std::span<const std::byte> answer);
std::optional<CardMemory> parse_xe_regions(std::span<const std::byte> answer);

// Asks the driver of this machine. The card must be awake: to open its node would wake it.
std::optional<CardMemory> query_memory(const drm::Card &card);

// What the drivers say of the use is true only for those who may look at performance (CAP_PERFMON or CAP_SYS_ADMIN);
// others are told that nothing is in use. `status` is the text of /proc/self/status.
bool may_see_use(std::string_view status);

}  // namespace gpulse::intel
