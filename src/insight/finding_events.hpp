// SPDX-License-Identifier: Apache-2.0
// Findings as events: each is told once when it begins and once when it ends, among the events of the samples. For
// those who hand samples on or keep them, the agent and `gpulse record`: serve/finding_thread. One thread each.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "insight/watch.hpp"

namespace gpulse::insight {

// The word for the finding that an event of it is about; every text of such an event begins with it.
std::string_view finding_word(const Event &event);

class FindingEvents {
 public:
  explicit FindingEvents(WatchOptions options = {}) : watch_(options) {}

  // What has begun or ended with this sample.
  std::vector<Event> judge(const SnapshotPtr &sample);

  const Watch &watch() const { return watch_; }

 private:
  Event begun(const LastingFinding &lasting, const Snapshot &sample);
  Event ended(const LastingFinding &lasting, WallTime time);

  Watch watch_;
  std::map<std::uint64_t, Text> lasting_;  // by number; the uuid of the device, empty where it is about several
};

// The events of a sample gain at their end and lose their oldest: what stands behind the last one known is new.
std::span<const Event> new_events(const SharedVector<Event> &before, const SharedVector<Event> &now);

// Events of one's own among those that samples bring with them.
class AddedEvents {
 public:
  // The sample with these and all earlier ones; the very same where there are none.
  SnapshotPtr add(const SnapshotPtr &sample, std::vector<Event> news);

 private:
  SharedVector<Event> given_, all_;  // of the last sample: as it came, and with what was added
  bool any_ = false;
};

}  // namespace gpulse::insight
