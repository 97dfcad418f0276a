// SPDX-License-Identifier: Apache-2.0
// Names of users: of this machine through the system's own look-up, of a recorded one from its /etc/passwd.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/sysroot.hpp"

namespace gpulse::host {

class Users {
 public:
  explicit Users(Sysroot root) : root_(std::move(root)) {}

  // The number where there is no name. Not safe to call from several threads.
  std::string name(std::uint32_t user);

 private:
  Sysroot root_;
  std::unordered_map<std::uint32_t, std::string> names_;
};

}  // namespace gpulse::host
