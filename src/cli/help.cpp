// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/nearest.hpp"
#include "cli/completion.hpp"
#include "cli/manual.hpp"
#include "cli/output.hpp"

namespace gpulse::cli {

namespace {

int print(const std::string &text) {
  const auto written = write_out(text);
  return written ? kGood : fail(written.error());
}

// Where each shell looks for it, below share.
std::string_view completion_file(std::string_view shell) {
  if (shell == "zsh") return "zsh/site-functions/_gpulse";
  return shell == "fish" ? "fish/vendor_completions.d/gpulse.fish" : "bash-completion/completions/gpulse";
}

Result<void> write_page(const std::filesystem::path &file, const std::string &text) {
  std::error_code unused;  // what cannot be made cannot be written to either
  std::filesystem::create_directories(file.parent_path(), unused);
  return replace_file(file, text);
}

}  // namespace

Result<const CommandWords *> find_command(const ProgramWords &program, const Options &options) {
  const auto name = options.topic.empty() ? std::string() : options.topic.front();
  const auto found = std::ranges::find(program, name, &CommandWords::name);
  if (found != program.end()) return &*found;
  std::vector<std::string_view> names;
  for (const auto &command : program) names.push_back(command.name);
  return failure(name + " is no command", did_you_mean(name, names, "see gpulse --help"));
}

int print_manual(const ProgramWords &program, const CommandWords &command, const std::string &version) {
  return print(manual_page(program, command, version));
}

int write_pages(const ProgramWords &program, const Options &options, const std::string &version) {
  const std::filesystem::path folder = options.pages;
  for (const auto &command : program) {
    if (command.takes_anything) continue;
    const auto name = command.name.empty() ? "gpulse.1" : "gpulse-" + command.name + ".1";
    const auto written = write_page(folder / "man" / "man1" / name, manual_page(program, command, version));
    if (!written) return fail(written.error());
  }
  for (const auto shell : kShells) {
    const auto written = write_page(folder / completion_file(shell), completion_script(program, shell));
    if (!written) return fail(written.error());
  }
  return kGood;
}

int print_completion(const ProgramWords &program, const Options &options) {
  if (options.topic.size() != 1) return fail({"which shell?", "gpulse completion bash, zsh or fish"}, kUsage);
  return print(completion_script(program, options.topic.front()));
}

}  // namespace gpulse::cli
