// SPDX-License-Identifier: Apache-2.0
// The processes of a snapshot as a list on the screen: filtered, sorted, as a tree, or added up. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "tui/query.hpp"
#include "tui/settings.hpp"

namespace gpulse::tui {

// Identifies a row across changes of order.
struct ProcessKey {
  std::uint32_t pid = 0;
  DeviceId device;
  auto operator<=>(const ProcessKey &) const = default;
};
inline ProcessKey key_of(const Process &process) { return {process.pid, process.device}; }

struct ListRow {
  enum class Kind : std::uint8_t { process, parent, total, child };
  Kind kind = Kind::process;
  const Process *process = nullptr;  // in the snapshot, or in ProcessList::synthetic
  std::string guide;                 // of the tree: "├─ "
  std::size_t count = 1;             // of a total: how many processes
  std::vector<DeviceId> devices{};   // of a total
};

struct ProcessList {
  std::vector<ListRow> rows;
  std::deque<Process> synthetic;  // stand-ins for parents, totals and children
  std::size_t hidden = 0;         // number of processes filtered out
};

// The snapshot must outlive the list.
ProcessList list_processes(const Snapshot &snapshot, const Settings &settings, const Query &filter, bool unicode);

}  // namespace gpulse::tui
