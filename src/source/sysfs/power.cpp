// SPDX-License-Identifier: Apache-2.0
#include "source/sysfs/power.hpp"

#include "source/sysfs/attribute.hpp"

namespace gpulse::sysfs {

bool is_suspended(const Sysroot &root, const std::string &device) {
  const auto status = read_word(root, device + "/power/runtime_status");
  return status == "suspended" || status == "suspending";
}

bool may_suspend(const Sysroot &root, const std::string &device) {
  return read_word(root, device + "/power/control") == "auto" &&
         read_word(root, device + "/power/runtime_status") == "active";
}

}  // namespace gpulse::sysfs
