// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/gpustat_arguments.hpp"

namespace gpulse::cli {

namespace {

using Takes = GpustatOption::Takes;

std::string value_text(const GpustatOption &option) {
  switch (option.takes) {
    case Takes::nothing:
      return "";
    case Takes::perhaps:
      return fmt::format(" [{}]", option.value);
    case Takes::one:
      return fmt::format(" {}", option.value);
  }
  return "";
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const auto &option : gpustat_options()) {
    for (const auto name : split(option.names, '/')) names.push_back(name);
  }
  return names;
}

std::vector<std::string_view> choices_of(const GpustatOption &option) {
  std::vector<std::string_view> choices(option.choices.begin(), option.choices.end());
  std::erase_if(choices, [](std::string_view choice) { return choice.empty(); });
  return choices;
}

std::string bash_completion() {
  std::string values;
  for (const auto &option : gpustat_options()) {
    if (option.choices.empty()) continue;
    values += fmt::format("    {}) words=\"{}\" ;;\n", fmt::join(split(option.names, '/'), "|"),
                          fmt::join(choices_of(option), " "));
  }
  return fmt::format(
      "_gpustat() {{\n"
      "  local words=\"{}\"\n"
      "  case \"${{COMP_WORDS[COMP_CWORD - 1]}}\" in\n{}"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "}}\n"
      "complete -F _gpustat gpustat\n",
      fmt::join(all_names(), " "), values);
}

std::string zsh_completion() {
  std::string text = "#compdef gpustat\n_arguments -s";
  for (const auto &option : gpustat_options()) {
    const auto choices = choices_of(option);
    std::string value;
    if (option.takes != Takes::nothing) {
      value = fmt::format(":{}{}:{}", option.takes == Takes::perhaps ? ":" : "", option.value,
                          choices.empty() ? "" : fmt::format("({})", fmt::join(choices, " ")));
    }
    for (const auto name : split(option.names, '/')) text += fmt::format(" \\\n  '{}[{}]{}'", name, option.help, value);
  }
  return text + "\n";
}

std::string tcsh_completion() {
  std::string values;
  std::vector<std::string_view> letters;
  std::vector<std::string_view> words;
  for (const auto &option : gpustat_options()) {
    for (const auto name : split(option.names, '/')) {
      name.starts_with("--") ? words.push_back(name.substr(2)) : letters.push_back(name.substr(1));
      if (!option.choices.empty()) values += fmt::format(" 'n/{}/({})/'", name, fmt::join(choices_of(option), " "));
    }
  }
  return fmt::format("complete gpustat{} 'c/--/({})/' 'c/-/({})/'\n", values, fmt::join(words, " "),
                     fmt::join(letters, " "));
}

}  // namespace

std::string gpustat_usage() {
  return "usage: gpustat [-acfupF] [-e [enc|dec]] [-P [draw|limit]] [-i [SEC]] [--id LIST] [--json]\n"
         "               [--no-header] [--no-processes] [--gpuname-width N] [--color | --no-color]\n"
         "               [--debug] [--print-completion SHELL] [-v] [-h]\n";
}

std::string gpustat_help() {
  auto text = gpustat_usage() + "\nThe GPUs of this machine, a line each, as gpustat shows them.\n\n";
  for (const auto &option : gpustat_options()) {
    const auto names = fmt::format("{}{}", fmt::join(split(option.names, '/'), ", "), value_text(option));
    text += fmt::format("  {:<33} {}\n", names, option.help);
  }
  text +=
      "\ngpulse's own options are understood as well: --source, --sysroot, --replay, --columns, --demo, --wake; see "
      "gpulse "
      "--help.\n";
  return text;
}

std::string gpustat_completion(std::string_view shell) {
  if (shell == "bash") return bash_completion();
  return shell == "zsh" ? zsh_completion() : tcsh_completion();
}

}  // namespace gpulse::cli
