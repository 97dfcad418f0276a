// SPDX-License-Identifier: Apache-2.0
// The panels of the main page: how each is drawn, and what the mouse wheel does over it. Which lines each gets is up to
// layout.
#pragma once

#include "tui/layout.hpp"
#include "tui/session.hpp"

namespace gpulse::tui {

struct PanelRow {
  Panel panel;
  void (*draw)(const term::Area &area, const DrawContext &context, Session &session);
  void (*wheel)(Session &session, const term::MouseEvent &wheel);
};

const PanelRow &panel_row(Panel panel);

// The session must have a snapshot.
PanelNeeds panel_needs(const Session &session);

}  // namespace gpulse::tui
