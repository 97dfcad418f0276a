// SPDX-License-Identifier: Apache-2.0
// Findings as events: each is told once when it begins and once when it ends, among the events of the samples. For
// those who hand samples on or keep them: the agent, `gpulse record`. One thread.
#pragma once

#include <map>
#include <vector>

#include "insight/watch.hpp"

namespace gpulse::insight {

class FindingEvents {
 public:
  explicit FindingEvents(WatchOptions options = {}) : watch_(options) {}

  // What has begun or ended with this sample.
  std::vector<Event> judge(const SnapshotPtr &sample);
  // The sample with these and all earlier ones among its events; the very same where there are none.
  SnapshotPtr add(const SnapshotPtr &sample, std::vector<Event> news);
  SnapshotPtr add(const SnapshotPtr &sample) { return add(sample, judge(sample)); }

  const Watch &watch() const { return watch_; }

 private:
  Event begun(const LastingFinding &lasting, const Snapshot &sample);
  Event ended(const LastingFinding &lasting, WallTime time);

  Watch watch_;
  WallTime last_{};                        // of the last sample that was judged
  std::map<std::uint64_t, Text> lasting_;  // by number; the uuid of the device, empty where it is about several
  // As the events of the last sample came, and with what was added to them.
  SharedVector<Event> given_, all_;
  bool any_ = false;
};

}  // namespace gpulse::insight
