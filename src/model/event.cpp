// SPDX-License-Identifier: Apache-2.0
#include "model/event.hpp"

#include <algorithm>
#include <array>

namespace gpulse {

namespace {

struct KindRow {
  EventKind kind;
  std::string_view word;
  Severity severity = Severity::note;
};
constexpr std::array kRows{
    KindRow{EventKind::other, "event"},
    KindRow{EventKind::xid, "xid", Severity::critical},
    KindRow{EventKind::ecc, "ecc", Severity::critical},
    KindRow{EventKind::power_source, "power"},
    KindRow{EventKind::mig, "mig"},
    KindRow{EventKind::lost, "lost", Severity::critical},
    KindRow{EventKind::not_responding, "not responding", Severity::critical},
    KindRow{EventKind::asleep, "asleep"},
    KindRow{EventKind::awake, "awake"},
    KindRow{EventKind::back, "back"},
    KindRow{EventKind::found, "found"},
    KindRow{EventKind::throttle, "throttle", Severity::warning},
    KindRow{EventKind::throttle_ended, "throttle ended"},
    KindRow{EventKind::process, "process"},
    KindRow{EventKind::phase, "phase"},
    KindRow{EventKind::finding, "finding", Severity::warning},
    KindRow{EventKind::finding_ended, "finding ended"},
};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].kind) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const KindRow &row_of(EventKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view word(EventKind kind) { return row_of(kind).word; }

std::optional<EventKind> event_kind_named(std::string_view word) {
  const auto *const found = std::ranges::find(kRows, word, &KindRow::word);
  return found == kRows.end() ? std::nullopt : std::optional(found->kind);
}

Severity severity(EventKind kind) { return row_of(kind).severity; }

}  // namespace gpulse
