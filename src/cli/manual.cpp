// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace gpulse::cli {

namespace {

struct Row {
  std::string_view name, words;
};

constexpr std::array kFiles{
    Row{"~/.config/gpulse/config.toml",
        "Defaults in TOML: the long names of options, those of a command in a table of its "
        "name. XDG_CONFIG_HOME moves it."},
    Row{"~/.config/gpulse/top.toml", "What gpulse top remembers."},
    Row{"/run/gpulse", "Where the agent publishes its samples."},
    Row{"/var/lib/gpulse", "What the agent keeps."},
};

constexpr std::array kVariables{
    Row{"GPULSE_AGENT", "Another folder of the agent; off: do without."},
    Row{"GPULSE_LEASES", "Another folder for the leases of gpulse pick."},
    Row{"NO_COLOR", "No colours."},
};

// A hyphen would be typeset as a dash; a line that begins with a point or an apostrophe would be a request.
std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escape(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escape(text) + "\\fR"; }

std::string label(const OptionWords &option) {
  std::string out;
  for (const auto &name : option.names) out += (out.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty()) out += (out.empty() ? "" : " ") + italic(option.value);
  return out;
}

std::string item(const std::string &title, std::string_view words) {
  return fmt::format(".TP\n{}\n{}\n", title, escape(words));
}

std::string options_part(const CommandWords &command) {
  std::string out = ".SH OPTIONS\n";
  for (const auto &option : command.options) out += item(label(option), option.help);
  return out;
}

template <class Rows>
std::string rows_part(std::string_view title, const Rows &rows) {
  std::string out = fmt::format(".SH {}\n", title);
  for (const auto &[name, words] : rows) out += item(bold(name), words);
  return out;
}

// Indented lines are examples or tables, and stay as they are; the others are paragraphs.
std::string notes_part(std::string_view footer) {
  if (footer.empty()) return {};
  std::string out = ".SH NOTES\n";
  bool verbatim = false;
  for (const auto line : split(footer, '\n')) {
    const bool indented = line.starts_with("  ");
    if (indented != verbatim) out += indented ? ".PP\n.EX\n" : ".EE\n.PP\n";
    verbatim = indented;
    out += line.empty() ? ".PP\n" : escape(line) + "\n";
  }
  return out + (verbatim ? ".EE\n" : "");
}

std::string synopsis(const CommandWords &command) {
  std::string out = ".SH SYNOPSIS\n.B gpulse" + (command.name.empty() ? "" : " " + escape(command.name)) + "\n";
  if (command.takes_anything) return out + "[…]\n";
  if (command.name.empty()) out += "[" + italic("COMMAND") + "] ";
  out += "[" + italic("OPTIONS") + "]";
  for (const auto &option : command.options) {
    if (option.names.empty()) out += " [" + italic(option.value) + "]";
  }
  return out + "\n";
}

std::string commands_part(const ProgramWords &program) {
  std::string out = ".SH COMMANDS\n";
  for (const auto &command : program) {
    if (!command.name.empty()) out += item(bold(command.name), command.help);
  }
  return out;
}

std::string see_also(const ProgramWords &program, const CommandWords &own) {
  std::string out;
  for (const auto &command : program) {
    if (&command == &own || command.takes_anything) continue;
    const auto name = command.name.empty() ? "gpulse" : "gpulse-" + command.name;
    out += fmt::format("{}{} (1)", out.empty() ? "" : ",\n", ".BR " + escape(name));
    // The root page names all others; theirs name it.
    if (!own.name.empty()) break;
  }
  return ".SH SEE ALSO\n" + out + "\n";
}

}  // namespace

std::string manual_page(const ProgramWords &program, const CommandWords &command, const std::string &version) {
  const auto name = command.name.empty() ? std::string("gpulse") : "gpulse-" + command.name;
  std::string upper = name;
  for (char &c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  std::string out = fmt::format(".TH {} 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", escape(upper), version,
                                escape(name), escape(command.help));
  out += synopsis(command);
  if (command.name.empty()) out += commands_part(program);
  if (!command.options.empty()) out += options_part(command);
  out += notes_part(command.footer);
  if (command.name.empty()) out += rows_part("FILES", kFiles) + rows_part("ENVIRONMENT", kVariables);
  return out + see_also(program, command);
}

}  // namespace gpulse::cli
