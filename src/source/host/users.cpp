// SPDX-License-Identifier: Apache-2.0
#include "source/host/users.hpp"

#include <optional>

#include "base/user.hpp"
#include "source/host/process_text.hpp"

namespace gpulse::host {

std::string Users::name(std::uint32_t user) {
  const auto known = names_.find(user);
  if (known != names_.end()) return known->second;
  const auto found = root_.is_machine() ? user_name(user) : find_user(root_.read("/etc/passwd").value_or(""), user);
  if (!found) return std::to_string(user);
  return names_[user] = found->empty() ? std::to_string(user) : *found;
}

}  // namespace gpulse::host
