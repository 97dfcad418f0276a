// SPDX-License-Identifier: Apache-2.0
// Listens for the driver's events (XID errors, memory errors, mode changes) on a thread of its own. The functions are
// called by the source, one at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "source/nvml/device.hpp"

namespace gpulse::nvml {

struct Listened {
  Handle handle;
  std::string uuid;
  std::shared_ptr<XidState> xid;
};

class EventListener {
 public:
  EventListener() = default;
  EventListener(const EventListener &) = delete;
  EventListener &operator=(const EventListener &) = delete;
  ~EventListener();

  // Whether a device could be registered is in its XidState.
  void start(std::shared_ptr<Api> api, std::vector<Listened> devices);
  // False when the thread is stuck in the driver and was left behind: the session must then stay open.
  bool stop();
  std::vector<Event> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace gpulse::nvml
