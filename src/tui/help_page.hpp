// SPDX-License-Identifier: Apache-2.0
// The help page: every key of the key table, the mouse, and where habits from other programs clash.
#pragma once

#include "tui/component.hpp"

namespace gpulse::tui {

void open_help(Session &session);

}  // namespace gpulse::tui
