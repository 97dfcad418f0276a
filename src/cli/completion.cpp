// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gpulse::cli {

namespace {

enum class Value { none, words, file, folder, other };

Value value_of(const OptionWords &option) {
  if (!option.choices.empty()) return Value::words;
  if (option.value.empty()) return Value::none;
  if (option.value.contains("FILE") || option.value.contains("PATH") || option.value.contains("SOCKET")) {
    return Value::file;
  }
  return option.value.contains("DIR") ? Value::folder : Value::other;
}

bool is_positional(const OptionWords &option) { return option.names.empty(); }

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// What one may type next in a command: its options, and the words that stand by their place.
std::vector<std::string> next_words(const CommandWords &command) {
  std::vector<std::string> words;
  for (const auto &option : command.options) {
    const auto &more = is_positional(option) ? option.choices : option.names;
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

std::vector<std::string> command_names(const ProgramWords &program) {
  std::vector<std::string> names;
  for (const auto &command : program) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return names;
}

// bash

std::string bash_values(const CommandWords &command) {
  std::string out;
  for (const auto &option : command.options) {
    const auto value = value_of(option);
    if (is_positional(option) || value == Value::none) continue;
    // A value that may be missing leaves room for the next option.
    if (option.value_may_be_missing) continue;
    std::string names;
    for (const auto &name : option.names) names += (names.empty() ? "" : "|") + command.name + ":" + name;
    const auto give = value == Value::words    ? fmt::format("_gpulse_words '{}'", fmt::join(option.choices, " "))
                      : value == Value::file   ? std::string("_gpulse_files -f")
                      : value == Value::folder ? std::string("_gpulse_files -d")
                                               : std::string(":");
    out += fmt::format("    {}) {}; return ;;\n", names, give);
  }
  return out;
}

std::string bash_script(const ProgramWords &program) {
  std::string values, options;
  for (const auto &command : program) {
    values += bash_values(command);
    if (command.takes_anything) continue;
    auto words = next_words(command);
    if (command.name.empty()) {
      const auto names = command_names(program);
      words.insert(words.begin(), names.begin(), names.end());
    }
    options += fmt::format("    '{}') _gpulse_words '{}' ;;\n", command.name, fmt::join(words, " "));
  }
  return fmt::format(R"(# bash completion for gpulse, printed by: gpulse completion bash
_gpulse_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }}
_gpulse_files() {{
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}}
_gpulse() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command='' word
  COMPREPLY=()
  # bash takes --name=value apart.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $previous == '=' ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    if [[ $word == -- ]]; then
      compopt -o default
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      return
    fi
    case $word in {}) [[ $command ]] || command=$word ;; esac
  done
  case "$command:$previous" in
{}  esac
  case $command in
{}    *) compopt -o default ;;
  esac
}}
complete -F _gpulse gpulse
)",
                     fmt::join(command_names(program), " | "), values, options);
}

// zsh

std::string zsh_quote(std::string text) { return "'" + replace_all(std::move(text), "'", "'\\''") + "'"; }

std::string zsh_escape(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.contains(c)) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const OptionWords &option) {
  switch (value_of(option)) {
    case Value::words:
      return fmt::format("({})", fmt::join(option.choices, " "));
    case Value::file:
      return "_files";
    case Value::folder:
      return "_files -/";
    case Value::none:
    case Value::other:
      break;
  }
  return " ";
}

std::string zsh_option(const OptionWords &option) {
  const auto value = zsh_escape(option.value, ":[]");
  const auto *const colon = option.value_may_be_missing ? "::" : ":";
  if (is_positional(option)) return "    " + zsh_quote(fmt::format("*:{}:{}", value, zsh_action(option)));
  const auto help = "[" + zsh_escape(option.help, "[]") + "]";
  const auto behind = value_of(option) == Value::none ? "" : fmt::format("{}{}:{}", colon, value, zsh_action(option));
  std::string out;
  for (const auto &name : option.names) {
    const auto all = option.names.size() > 1 ? fmt::format("({})", fmt::join(option.names, " ")) : "";
    out += (out.empty() ? "    " : " \\\n    ") + zsh_quote(fmt::format("{}{}{}{}", all, name, help, behind));
  }
  return out;
}

std::string zsh_arguments(const CommandWords &command) {
  if (command.takes_anything) return "_files";
  std::string out = "_arguments -s";
  for (const auto &option : command.options) out += " \\\n  " + zsh_option(option);
  return out;
}

std::string zsh_script(const ProgramWords &program) {
  std::string names, cases;
  for (const auto &command : program) {
    if (command.name.empty()) continue;
    names += "    " + zsh_quote(command.name + ":" + zsh_escape(command.help, ":")) + "\n";
    cases += fmt::format("    {}) {} ;;\n", command.name, zsh_arguments(command));
  }
  return fmt::format(R"(#compdef gpulse
# zsh completion for gpulse, printed by: gpulse completion zsh
_gpulse() {{
  local -a commands=(
{}  )
  local word place=${{words[(I)--]}}
  if (( place > 0 && place < CURRENT )); then
    shift $place words
    (( CURRENT -= place ))
    _normal
    return
  fi
  for word in ${{words[2,CURRENT-1]}}; do
    case $word in
{}      *) continue ;;
    esac
    return
  done
  [[ $PREFIX == -* ]] || _describe command commands
  {}
}}
if [[ $funcstack[1] == _gpulse ]]; then
  _gpulse "$@"
else
  compdef _gpulse gpulse
fi
)",
                     names, cases, zsh_arguments(program.front()));
}

// fish

std::string fish_quote(const std::string &text) {
  return "'" + replace_all(replace_all(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_option(const OptionWords &option, const std::string &when) {
  std::string out = "complete -c gpulse -n " + fish_quote(when);
  for (const auto &name : option.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  const auto value = value_of(option);
  if (value == Value::words) {
    out += (is_positional(option) ? " -a " : " -x -a ") + fish_quote(fmt::format("{}", fmt::join(option.choices, " ")));
  } else if (value == Value::file) {
    out += " -r -F";
  } else if (value == Value::folder) {
    out += " -x -a '(__fish_complete_directories)'";
  } else if (value == Value::other && !option.value_may_be_missing) {
    out += " -x";
  }
  return out + " -d " + fish_quote(option.help) + "\n";
}

std::string fish_script(const ProgramWords &program) {
  const auto names = fmt::format("{}", fmt::join(command_names(program), " "));
  const auto none = "not __fish_seen_subcommand_from " + names;
  std::string out = "# fish completion for gpulse, printed by: gpulse completion fish\ncomplete -c gpulse -f\n";
  for (const auto &command : program) {
    if (!command.name.empty()) {
      out += fmt::format("complete -c gpulse -n {} -a {} -d {}\n", fish_quote(none), command.name,
                         fish_quote(command.help));
    }
    const auto when = command.name.empty() ? none : "__fish_seen_subcommand_from " + command.name;
    for (const auto &option : command.options) {
      if (is_positional(option) && option.choices.empty()) continue;
      out += fish_option(option, when);
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const ProgramWords &program, std::string_view shell) {
  if (shell == "zsh") return zsh_script(program);
  return shell == "fish" ? fish_script(program) : bash_script(program);
}

}  // namespace gpulse::cli
