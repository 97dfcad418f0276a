// SPDX-License-Identifier: Apache-2.0
#include "cli/drop_in.hpp"

#include <array>

namespace gpulse::cli {

namespace {

struct TextOption {
  std::string_view name;
  std::string Options::*target;
};
constexpr std::array kTexts{TextOption{"--source", &Options::source}, TextOption{"--sysroot", &Options::sysroot},
                            TextOption{"--replay", &Options::replay}, TextOption{"--columns", &Options::columns}};

struct FlagOption {
  std::string_view name;
  bool Options::*target;
};
constexpr std::array kFlags{FlagOption{"--demo", &Options::demo}, FlagOption{"--wake", &Options::wake},
                            FlagOption{"--no-agent", &Options::no_agent}};

bool take_flag(std::string_view argument, Options &options) {
  for (const auto &[name, target] : kFlags) {
    if (argument != name) continue;
    options.*target = true;
    return true;
  }
  return false;
}

}  // namespace

Result<std::vector<std::string_view>> take_own_options(std::span<char *> arguments, Options &options) {
  std::vector<std::string_view> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (take_flag(argument, options)) continue;
    const TextOption *text = nullptr;
    for (const auto &one : kTexts) {
      if (argument.substr(0, argument.find('=')) == one.name) text = &one;
    }
    if (text == nullptr) {
      rest.push_back(argument);
      continue;
    }
    std::string_view value;
    if (argument.size() > text->name.size()) {
      value = argument.substr(text->name.size() + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
      if (value.starts_with('-') && value != "-") value = {};  // the next option
    }
    if (value.empty()) return failure("argument " + std::string(text->name) + ": expected one argument");
    options.*(text->target) = value;
  }
  return rest;
}

}  // namespace gpulse::cli
