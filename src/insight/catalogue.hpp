// SPDX-License-Identifier: Apache-2.0
// What kinds of findings there are: a row each. The words are a contract: JSON, history and `gpulse explain` have them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "insight/finding.hpp"

namespace gpulse::insight {

struct FindingKind {
  FindingId id;
  std::string_view word;   // "input-cpu"
  std::string_view title;  // a few words for a heading
};

// In the order of the ids.
std::span<const FindingKind> finding_kinds();
const FindingKind &describe(FindingId id);
std::string_view word(FindingId id);
std::optional<FindingId> finding_named(std::string_view word);

}  // namespace gpulse::insight
