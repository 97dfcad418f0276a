// SPDX-License-Identifier: Apache-2.0
// What the tables of processes show of one process, whichever table it is.
#pragma once

#include <cstdint>
#include <string>

#include "model/snapshot.hpp"
#include "term/table.hpp"

namespace gpulse::view {

// "C", "G", "CG", "M", "?"
std::string type_letters(std::uint8_t types);
// Clean; empty where there is none.
std::string process_text(const Process &process, Role role, const term::Style &style);
term::Cell process_text_cell(const Process &process, Role role, const term::Style &style);
// Where it belongs: its job, else its pod, else its container, identifiers at the length people write them.
term::Cell owner_cell(const Process &process, const term::Style &style);
bool has_owner(const Process &process);
// The command line, else the name; what it is instead where neither can be told. Tables have room for what tells jobs
// apart, not for paths.
enum class CommandForm : std::uint8_t { brief, whole };
term::Cell command_cell(const Process &process, const term::Style &style, CommandForm form = CommandForm::brief);

}  // namespace gpulse::view
