// SPDX-License-Identifier: Apache-2.0
// What `gpulse smi` prints when it ends early, and nvidia-smi's exit codes.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "model/snapshot.hpp"

namespace gpulse::cli {

inline constexpr int kBadArgument = 2, kNotFound = 6, kNoDriver = 9, kNoLibrary = 12, kLost = 15, kOther = 255;

struct SmiRefusal {
  std::string text;
  int code = 0;
  std::string own{};  // a line of ours, for the standard error
};
template <class T>
using SmiResult = std::expected<T, SmiRefusal>;

inline std::unexpected<SmiRefusal> refuse(std::string text, int code) {
  return std::unexpected(SmiRefusal{std::move(text), code});
}

// For what nvidia-smi has and we do not.
inline std::unexpected<SmiRefusal> not_offered(std::string_view what) {
  return std::unexpected(SmiRefusal{"", kOther, std::string(what) + " is not offered: use nvidia-smi itself for it"});
}

// Prints the text, and returns the exit code.
int say(const SmiRefusal &refusal);

// For a snapshot without devices.
SmiRefusal nothing_found(const Snapshot &snapshot);

}  // namespace gpulse::cli
