// SPDX-License-Identifier: Apache-2.0
#include "model/event.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gpulse {
namespace {

TEST(Event, HowBadEachKindIs) {
  for (const auto *kind : {"xid", "ecc", "lost", "not responding"}) {
    EXPECT_EQ(severity(event_kind_named(kind).value()), Severity::critical) << kind;
  }
  for (const auto *kind : {"throttle", "finding"}) {
    EXPECT_EQ(severity(event_kind_named(kind).value()), Severity::warning) << kind;
  }
  for (const auto *kind : {"throttle ended", "asleep", "awake", "back", "found", "process", "power", "mig", "event",
                           "phase", "finding ended"}) {
    EXPECT_EQ(severity(event_kind_named(kind).value()), Severity::note) << kind;
  }
}

TEST(Event, AKindIsKnownByItsWord) {
  for (int i = 0; i <= static_cast<int>(EventKind::finding_ended); ++i) {
    const auto kind = static_cast<EventKind>(i);
    EXPECT_EQ(event_kind_named(word(kind)), kind);
  }
  EXPECT_EQ(event_kind_named(""), std::nullopt);
  EXPECT_EQ(event_kind_named("of a later version"), std::nullopt);
}

}  // namespace
}  // namespace gpulse
