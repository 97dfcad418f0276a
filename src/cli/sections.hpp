// SPDX-License-Identifier: Apache-2.0
// What of the configuration is no option: sections with tables of their own, which are read by those who need them.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace gpulse::cli {

inline constexpr std::array<std::string_view, 2> kSections{"web", "alerts"};

// By name, as they stand there, on the lines that they have in the file.
using Sections = std::map<std::string, std::string, std::less<>>;

inline std::string section(const Sections &sections, std::string_view name) {
  const auto found = sections.find(name);
  return found == sections.end() ? std::string() : found->second;
}

}  // namespace gpulse::cli
