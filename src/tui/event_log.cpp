// SPDX-License-Identifier: Apache-2.0
#include "tui/event_log.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "insight/changes.hpp"

namespace gpulse::tui {

void note_events(EventLog &log, const Snapshot *before, const Snapshot &now, std::string_view since) {
  std::vector<Event> fresh;
  if (before != nullptr) {
    fresh = insight::changes(*before, now);
  } else {
    fresh = insight::already_so(now, since);
    fresh.insert(fresh.end(), now.events.begin(), now.events.end());
  }
  for (const auto &event : fresh) {
    const auto again = [&](const LoggedEvent &old) {
      return old.event.device == event.device && old.event.kind == event.kind && old.event.code == event.code &&
             old.event.text == event.text && event.time - old.event.time < std::chrono::minutes(1);
    };
    const auto same = std::ranges::find_if(log, again);
    const int times = same == log.end() ? 1 : same->times + 1;
    if (same != log.end()) log.erase(same);
    log.push_back({event, times});
  }
  while (log.size() > kMostEvents) log.pop_front();
}

}  // namespace gpulse::tui
