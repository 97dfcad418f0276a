// SPDX-License-Identifier: Apache-2.0
// The commands: what each is called, which options it takes and what runs it. The help, the manual pages and the
// completions are made from these.
#pragma once

#include <span>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/options.hpp"

namespace gpulse::cli {

struct Command {
  std::string_view name;
  const char *help;
  void (*add_options)(OptionList &, Options &);
  int (*run)(const Options &);
  bool runs_commands = false;  // what stands behind "--" is one of the user's
};
std::span<const Command> commands();

// Those of `gpulse status`, which is also meant where no command is named.
void add_status_options(OptionList &list, Options &options);

// Commands that stand in for another program: they speak its command line, also when they are called by its name.
struct DropIn {
  std::string_view program;
  const char *word;
  const char *help;
  int (*run)(std::span<char *> arguments);
};
std::span<const DropIn> drop_ins();

}  // namespace gpulse::cli
