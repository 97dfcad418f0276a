// SPDX-License-Identifier: Apache-2.0
#include "view/command_words.hpp"

#include <algorithm>
#include <array>

namespace gpulse::view {

namespace {

constexpr std::array<std::string_view, 9> kInterpreters{"python", "pypy", "bash", "sh", "dash",
                                                        "perl",   "ruby", "node", "R"};

std::string_view file_name(std::string_view path) {
  // A path that ends with a slash names no file; a process may call itself anything.
  const auto name = path.substr(path.rfind('/') + 1);
  return name.empty() ? path : name;
}

// "python3.11", "pypy3"
bool is_interpreter(std::string_view name) {
  const auto bare = name.substr(0, name.find_last_not_of("0123456789.") + 1);
  return std::ranges::find(kInterpreters, bare) != kInterpreters.end();
}

// How many of the interpreter's own options stand before its script: "-u", "-X dev". What runs code that is in no file
// ("-m", "-c") stays: it is what the job is.
std::size_t options_before_script(const std::vector<std::string_view> &arguments) {
  std::size_t i = 1;
  while (i < arguments.size() && arguments[i].starts_with('-') && arguments[i].size() > 1) {
    const auto option = arguments[i];
    if (option.starts_with("--") || option.ends_with('m') || option.ends_with('c') || option.ends_with('e')) break;
    const bool takes_value = option == "-X" || option == "-W";
    i += takes_value ? 2 : 1;
  }
  return std::min(i, arguments.size()) - 1;
}

}  // namespace

std::string brief_command(const std::vector<std::string_view> &arguments) {
  if (arguments.empty()) return {};
  std::string out(file_name(arguments.front()));
  std::size_t next = 1;
  if (is_interpreter(out)) {
    next += options_before_script(arguments);
    const bool has_script = next < arguments.size() && !arguments[next].starts_with('-');
    if (has_script) out.append(" ").append(file_name(arguments[next++]));
  }
  for (; next < arguments.size(); ++next) out.append(" ").append(arguments[next]);
  return out;
}

}  // namespace gpulse::view
