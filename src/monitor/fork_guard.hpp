// SPDX-License-Identifier: Apache-2.0
// Lets the monitors of this process know of forks.
#pragma once

namespace gpulse::monitor {

class Monitor;

struct ForkGuard {
  static void add(Monitor *monitor);
  static void remove(Monitor *monitor);

 private:
  static void prepare();
  static void after_in_parent();
  static void after_in_child();
};

}  // namespace gpulse::monitor
