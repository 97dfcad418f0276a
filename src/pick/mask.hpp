// SPDX-License-Identifier: Apache-2.0
// What the readers of the three masks share: taking entries off a list, and saying why some show nothing.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pick/visible.hpp"

namespace gpulse::pick {

// A variable may have any length; nobody reads more reasons than this.
inline constexpr std::size_t kMostIgnored = 64;

inline void ignore(Visible &out, const char *variable, std::string_view entry, std::string reason) {
  if (out.ignored.size() < kMostIgnored) out.ignored.push_back({variable, entry, std::move(reason)});
}

// The entries behind the one that ended the list.
inline void ignore_rest(Visible &out, const char *variable, std::span<const std::string_view> rest,
                        std::string_view culprit) {
  for (const auto entry : rest) {
    ignore(out, variable, entry, "stands behind \"" + Text(culprit) + "\", which ends the list");
  }
}

inline bool contains(const std::vector<std::size_t> &list, std::size_t device) {
  return std::find(list.begin(), list.end(), device) != list.end();
}

}  // namespace gpulse::pick
