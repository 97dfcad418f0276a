// SPDX-License-Identifier: Apache-2.0
// The job behind a GPU process: rows for what it has started, below it in the list. Pure.
#pragma once

#include <cstdint>
#include <set>

#include "tui/host_processes.hpp"
#include "tui/process_list.hpp"

namespace gpulse::tui {

// Puts the children of these processes below them, the busiest first, without those that have a row of their own.
void unfold(ProcessList &list, const std::set<std::uint32_t> &pids, const HostProcesses &processes, bool unicode);

}  // namespace gpulse::tui
