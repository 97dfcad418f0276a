// SPDX-License-Identifier: Apache-2.0
// The details page: everything about one process, with its plots. Keys of the key table that make sense for a single
// process work here too. UI thread only.
#pragma once

#include "model/snapshot.hpp"
#include "tui/component.hpp"
#include "tui/process_list.hpp"

namespace gpulse::tui {

class DetailsPage final : public Component {
 public:
  explicit DetailsPage(const ProcessKey &process) : process_(process) {}

  bool handle(const term::Input &input, Session &session) override;
  void draw(const term::Area &area, const Look &look, Session &session) override;
  std::vector<KeyHint> key_bar() const override { return {{"Esc", "closes"}, {"?", "help"}}; }

 private:
  ProcessKey process_;
};

// Of the chosen process; a total becomes the filter for its processes instead.
void open_details(Session &session);
// Of the process or of the device, whichever was chosen last; of the first device where nothing is.
void open_chosen(Session &session);

}  // namespace gpulse::tui
