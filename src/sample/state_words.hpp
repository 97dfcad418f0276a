// SPDX-License-Identifier: Apache-2.0
// What a device's state means for its readings and events.
#pragma once

#include "model/event.hpp"
#include "model/snapshot.hpp"

namespace gpulse {

inline Reason reason_of(DeviceState state) {
  switch (state) {
    case DeviceState::asleep:
      return Reason::asleep;
    case DeviceState::not_responding:
      return Reason::not_responding;
    default:
      return Reason::lost;
  }
}

inline EventKind event_of(DeviceState state) {
  switch (state) {
    case DeviceState::asleep:
      return EventKind::asleep;
    case DeviceState::lost:
      return EventKind::lost;
    case DeviceState::not_responding:
      return EventKind::not_responding;
    case DeviceState::ok:
      break;
  }
  return EventKind::back;
}

}  // namespace gpulse
