// SPDX-License-Identifier: Apache-2.0
// Something that happened, as opposed to something that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace gpulse {

// How much something deserves to be seen.
enum class Severity : std::uint8_t { note, warning, critical };

enum class EventKind : std::uint8_t {
  other,  // a driver's event without a name here, or a recording's of a later version
  xid,    // an error of NVIDIA's driver; the code is its number
  ecc,
  power_source,
  mig,
  lost,
  not_responding,
  asleep,
  awake,
  back,   // answers again
  found,  // was not there before
  throttle,
  throttle_ended,
  process,  // came or went; the code is its pid
  phase,    // of a labelled recording
  finding,  // something is found to be wrong from now on; the code is its number, the same at its end
  finding_ended,
};

// As JSON and recordings write it: "xid", "throttle ended", …
std::string_view word(EventKind kind);
std::optional<EventKind> event_kind_named(std::string_view word);
Severity severity(EventKind kind);

struct Event {
  WallTime time;
  Text device;  // uuid, empty where it concerns the machine
  EventKind kind = EventKind::other;
  std::int64_t code = 0;
  Text text;

  bool operator==(const Event &) const = default;
};

}  // namespace gpulse
