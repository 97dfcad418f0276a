// SPDX-License-Identifier: Apache-2.0
// Tells systemd how a service is doing, as sd_notify(3) does: a datagram of KEY=value lines each. Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace gpulse {

// A plain value. Where no manager asked to be told, all of it does nothing. Nothing waits for the manager or throws.
// False: it could not be told just now. What matters, ready() above all, is to be said again later.
class ServiceManager {
 public:
  // Nobody to tell.
  ServiceManager() = default;
  // What the manager left for this process: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID.
  static ServiceManager from_environment();

  // It does its work: for the first time, or again after a reload.
  bool ready() const noexcept { return tell("READY=1"); }
  // It reads its configuration again since `now`; ready() ends that.
  bool reloading(Monotonic now = monotonic_now()) const noexcept;
  bool stopping() const noexcept { return tell("STOPPING=1"); }
  // One line for `systemctl status`.
  bool status(std::string_view line) const noexcept;
  // It is alive. The manager restarts a service that has not said so for the time it was given.
  bool alive() const noexcept { return tell("WATCHDOG=1"); }
  // How often to say so: twice in that time. None: the manager does not watch this process.
  std::optional<std::chrono::microseconds> alive_interval() const { return alive_interval_; }

 private:
  bool tell(std::string_view message) const noexcept;

  std::string address_;  // as in sockaddr_un: a path, or a name after a NUL; empty: nobody to tell
  std::optional<std::chrono::microseconds> alive_interval_;
};

}  // namespace gpulse
