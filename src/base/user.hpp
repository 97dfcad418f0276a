// SPDX-License-Identifier: Apache-2.0
// Names of this machine's users, through the system's own look-up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gpulse {

// Safe to print. Empty: there is no such user. None: the look-up itself failed, a directory server that is away for
// instance.
std::optional<std::string> user_name(std::uint32_t user);

}  // namespace gpulse
