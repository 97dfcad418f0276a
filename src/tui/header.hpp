// SPDX-License-Identifier: Apache-2.0
// The first line of the main page: machine, time, drivers, problems; at the right, where the view is in time.
#pragma once

#include "term/screen.hpp"
#include "tui/session.hpp"

namespace gpulse::tui {

void draw_header(const term::Area &area, const Look &look, const Session &session);

}  // namespace gpulse::tui
