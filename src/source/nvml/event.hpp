// SPDX-License-Identifier: Apache-2.0
// Listens for the driver's events (XID errors, memory errors, mode changes) on a thread of its own. The functions are
// called by the source, one at a time, except for add().
#pragma once

#include <memory>
#include <optional>
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

  // Opens a set of events. Nothing is heard of it before listen().
  void open(std::shared_ptr<Api> api);
  // Registers a device; whether that worked is in its XidState. May be called by several threads.
  void add(Listened device);
  // Starts the thread, unless it runs or there is no device to listen to.
  void listen();
  // Asks the thread to end, without waiting for it. True when it has, or when it is stuck in the driver for so long
  // that it is left behind.
  bool try_stop();
  // Waits for that. False when the thread was left behind: the session must then stay open.
  bool stop();
  std::vector<Event> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::optional<Monotonic> stop_asked_;
};

}  // namespace gpulse::nvml
