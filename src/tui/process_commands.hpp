// SPDX-License-Identifier: Apache-2.0
// What the live view does to processes: signals, niceness; and what it asks of them: their environment. Each command is
// for the tagged processes, or for the chosen one where none is tagged. UI thread only.
#pragma once

#include <vector>

#include "model/snapshot.hpp"
#include "tui/component.hpp"

namespace gpulse::tui {

// Each once; pointers into the session's snapshot.
std::vector<const Process *> target_processes(const Session &session);

void open_signal_menu(Session &session);
// Sends it after the user has said yes.
void ask_signal(Session &session, int number);
void renice(Session &session, int by);
// Of the chosen process.
void open_environment(Session &session);

}  // namespace gpulse::tui
