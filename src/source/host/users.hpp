// SPDX-License-Identifier: Apache-2.0
// Names of users: through the system's look-up for this machine, from /etc/passwd for a recorded one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/sysroot.hpp"

namespace gpulse::host {

class Users {
 public:
  explicit Users(Sysroot root) : root_(std::move(root)) {}

  // The number when there is no name. Not thread-safe.
  std::string name(std::uint32_t user);

 private:
  Sysroot root_;
  std::unordered_map<std::uint32_t, std::string> names_;
};

}  // namespace gpulse::host
