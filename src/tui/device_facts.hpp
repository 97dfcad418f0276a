// SPDX-License-Identifier: Apache-2.0
// Everything that is known of one device, as lines of text: who it is, what holds its memory, every reading with its
// limit, and why the others are missing. Pure.
#pragma once

#include "model/snapshot.hpp"
#include "tui/event_log.hpp"
#include "tui/text_page.hpp"

namespace gpulse::tui {

// Who holds a device's memory, as far as it can be told.
struct MemoryHolders {
  Reading used = Reason::not_supported;
  double by_processes = 0;
  std::size_t processes = 0;
  bool all_known = true;  // every process tells what it holds

  // What no visible process holds; none where it cannot be told.
  Reading by_nobody() const;
};
MemoryHolders memory_holders(const Snapshot &snapshot, const Device &device);
// "1.5G of 3.5G in use is held by no process that can be seen: …"; empty where the processes hold about all of it.
std::string unheld_memory_text(const MemoryHolders &holders);

// Those on the device and its instances, the largest first.
std::vector<const Process *> processes_on(const Snapshot &snapshot, const Device &device);

TextLines identity_lines(const Snapshot &snapshot, const Device &device, const term::Style &style);
TextLines reading_lines(const Device &device, const term::Style &style);
TextLines process_lines(const Snapshot &snapshot, const Device &device, const term::Style &style);
TextLines event_lines(const Snapshot &snapshot, const EventLog &log, const Device &device, const term::Style &style);

}  // namespace gpulse::tui
