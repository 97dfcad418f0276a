// SPDX-License-Identifier: Apache-2.0
// The command line as plain words: what manual pages and shell completions are written from. CommandLine::describe()
// reads it off the same declarations that parse arguments and print the help.
#pragma once

#include <string>
#include <vector>

namespace gpulse::cli {

struct OptionWords {
  std::vector<std::string> names = {};  // "-o", "--output"; none: it stands by its place
  std::string value = {};               // as the help calls it; empty: it takes none
  bool value_may_be_missing = false;
  std::string help = {};
  std::vector<std::string> choices = {};  // what a shell may offer
};

struct CommandWords {
  std::string name = {};  // empty: the program itself
  std::string help = {};
  std::string footer = {};
  std::vector<OptionWords> options = {};
  bool takes_anything = false;  // what follows is another program's command line
};

// The program, then its commands.
using ProgramWords = std::vector<CommandWords>;

}  // namespace gpulse::cli
