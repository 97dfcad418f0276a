// SPDX-License-Identifier: Apache-2.0
#include "insight/catalogue.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "insight/rows/hardware.hpp"
#include "insight/rows/memory.hpp"
#include "insight/rows/sisters.hpp"
#include "insight/rows/work.hpp"

namespace gpulse::insight {

namespace {

// In the order of the ids, whatever file a row lies in.
constexpr auto kKinds = [] {
  std::array<FindingKind, kFindingIds> kinds{};
  const auto place = [&](std::span<const FindingKind> rows) {
    for (const auto &row : rows) kinds[static_cast<std::size_t>(row.id)] = row;
  };
  place(kWorkRows);
  place(kMemoryRows);
  place(kHardwareRows);
  return kinds;
}();
static_assert(std::size(kWorkRows) + std::size(kMemoryRows) + std::size(kHardwareRows) == kFindingIds);
static_assert(std::ranges::none_of(kKinds, &std::string_view::empty, &FindingKind::word), "an id without a row");
static_assert(std::size(kSisterRows) == kRemarkIds);

// As people type it: "OOM", "input_cpu".
bool same_word(std::string_view typed, std::string_view word) {
  return std::ranges::equal(typed, word, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a == '_' ? '-' : a) == b;
  });
}

// As people type it.
const FindingKind *kind_for_topic(std::span<const FindingKind> kinds, std::string_view name) {
  const auto found = std::ranges::find_if(kinds, [&](const FindingKind &kind) {
    const auto aliases = kind.aliases.all();
    return same_word(name, kind.word) ||
           std::ranges::any_of(aliases, [&](std::string_view alias) { return same_word(name, alias); });
  });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

std::string_view word(Weight weight) {
  switch (weight) {
    case Weight::ok:
      return "ok";
    case Weight::note:
      return "note";
    case Weight::problem:
      break;
  }
  return "problem";
}

std::span<const FindingKind> finding_kinds() { return kKinds; }

const FindingKind &describe(FindingId id) { return kKinds[static_cast<std::size_t>(id)]; }

std::string_view word(FindingId id) { return describe(id).word; }

std::optional<FindingId> finding_named(std::string_view word) {
  const auto found = std::ranges::find(kKinds, word, &FindingKind::word);
  return found == kKinds.end() ? std::nullopt : std::optional(found->id);
}

std::optional<FindingId> finding_for_topic(std::string_view name) {
  const auto *kind = kind_for_topic(kKinds, name);
  return kind == nullptr ? std::nullopt : std::optional(kind->id);
}

std::span<const FindingKind> remark_kinds() { return kSisterRows; }

const FindingKind &describe(RemarkId id) { return kSisterRows[static_cast<std::size_t>(id)]; }

std::string_view word(RemarkId id) { return describe(id).word; }

std::optional<RemarkId> remark_for_topic(std::string_view name) {
  const auto *kind = kind_for_topic(kSisterRows, name);
  return kind == nullptr ? std::nullopt : std::optional(static_cast<RemarkId>(kind - std::data(kSisterRows)));
}

}  // namespace gpulse::insight
