// SPDX-License-Identifier: Apache-2.0
// What kinds of findings there are: a row each says what it means, how it is told and what to do about it. JSON,
// history, `gpulse explain` and docs/findings.md have their words from here. The ids in words are a contract. Pure; any
// thread.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "insight/finding.hpp"

namespace gpulse::insight {

// A short list inside a row; the first empty text ends it.
struct TextList {
  static constexpr std::size_t kMost = 6;
  std::array<std::string_view, kMost> texts{};

  constexpr std::span<const std::string_view> all() const {
    std::size_t count = 0;
    while (count < kMost && !texts[count].empty()) ++count;
    return std::span(texts).first(count);
  }
};

struct FindingKind {
  FindingId id = FindingId::unknown;
  std::string_view word;          // "input-cpu"
  std::string_view title;         // a few words for a heading
  TextList aliases = {};          // other words for it that `gpulse explain` takes
  std::string_view meaning = {};  // what it means for the person whose job it is
  std::string_view told = {};     // which readings it rests on, with the thresholds
  std::string_view confirm = {};  // a command or an experiment that shows whether it is true
  TextList fix = {};              // what to try, the first first; empty where there is nothing to mend
  std::string_view helped = {};   // how to see that it did; empty where there is nothing to mend
  TextList see_also = {};         // keys of metrics
};

// In the order of the ids.
std::span<const FindingKind> finding_kinds();
const FindingKind &describe(FindingId id);
std::string_view word(FindingId id);
std::optional<FindingId> finding_named(std::string_view word);      // by its word only
std::optional<FindingId> finding_for_topic(std::string_view name);  // by its word or an alias, as people type it

// What is remarkable about a GPU beside its sisters: those of its job, those of its model. Only somebody who sees all
// hosts can tell, so that no agent publishes it.
enum class RemarkId : std::uint8_t { job_straggler, job_differs, slower_clock, hotter, lower_limit, slower_link };
inline constexpr std::size_t kRemarkIds = static_cast<std::size_t>(RemarkId::slower_link) + 1;

// In the order of the ids, with the words of a finding and without its id.
std::span<const FindingKind> remark_kinds();
const FindingKind &describe(RemarkId id);
std::string_view word(RemarkId id);
std::optional<RemarkId> remark_for_topic(std::string_view name);  // by its word or an alias, as people type it

}  // namespace gpulse::insight
