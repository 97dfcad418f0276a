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
  EXPECT_EQ(severity(event_kind_named("throttle").value()), Severity::warning);
  for (const auto *kind :
       {"throttle ended", "asleep", "awake", "back", "found", "process", "power", "mig", "event", "phase"}) {
    EXPECT_EQ(severity(event_kind_named(kind).value()), Severity::note) << kind;
  }
}

TEST(Event, AKindIsKnownByItsWord) {
  for (int i = 0; i <= static_cast<int>(EventKind::phase); ++i) {
    const auto kind = static_cast<EventKind>(i);
    EXPECT_EQ(event_kind_named(word(kind)), kind);
  }
  EXPECT_EQ(event_kind_named(""), std::nullopt);
  EXPECT_EQ(event_kind_named("of a later version"), std::nullopt);
}

}  // namespace
}  // namespace gpulse
