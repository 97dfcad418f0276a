// SPDX-License-Identifier: Apache-2.0
// Writing and reading samples in the slots of a segment, over its words alone. One writer, any number of readers; none
// waits for another.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/snapshot.hpp"
#include "share/layout.hpp"

namespace gpulse::share {

// What a slot takes.
struct SlotContent {
  const Snapshot &snapshot;
  std::span<const std::byte> bytes;  // the snapshot, encoded
  std::uint64_t boot_time = 0;
  std::uint64_t identities = 0;
};

// Whether there is room for it.
bool fits(const Layout &layout, const SlotContent &content);
// Numbers begin at 1 and follow each other.
void write_slot(std::span<Word> words, const Layout &layout, std::uint64_t number, const SlotContent &content);

// A copy of one slot.
struct SlotCopy {
  std::uint64_t number = 0;
  std::uint64_t boot_time = 0;
  WallTime wall_time{};
  std::uint64_t identities = 0;
  std::vector<std::uint64_t> words;  // the snapshot's bytes
  std::size_t bytes = 0;

  std::span<const std::byte> view() const { return std::as_bytes(std::span(words)).first(bytes); }
};

// The newest sample that is whole; none: there is none yet, or it is torn or damaged.
std::optional<SlotCopy> newest_sample(std::span<const Word> words, const Layout &layout);

// When the newest whole sample was taken, by the boot clock; none as above.
std::optional<std::uint64_t> newest_time(std::span<const Word> words, const Layout &layout);

// One reading of the newest whole sample: by the device's position in the snapshot, and the reading's slot in the
// agent's table. None: there is no such device or sample.
std::optional<Reading> device_reading(std::span<const Word> words, const Layout &layout, std::size_t device,
                                      std::size_t reading);
std::optional<Reading> host_reading(std::span<const Word> words, const Layout &layout, std::size_t reading);

}  // namespace gpulse::share
