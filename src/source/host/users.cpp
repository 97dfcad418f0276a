// SPDX-License-Identifier: Apache-2.0
#include "source/host/users.hpp"

#include <pwd.h>

#include <cerrno>
#include <optional>

#include "base/text.hpp"
#include "source/host/process_text.hpp"

namespace gpulse::host {

namespace {

// Empty: there is no such user. None: the look-up itself failed, a directory server that is away for instance.
std::optional<std::string> ask_system(std::uint32_t user) {
  constexpr std::size_t kMost = 1U << 20U;
  std::string buffer(1024, '\0');
  for (;;) {
    passwd entry{};
    passwd *found = nullptr;
    const int error = ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr) return printable(found->pw_name);
    if (error == EINTR) continue;
    if (error == 0 || error == ENOENT) return std::string();
    if (error != ERANGE || buffer.size() >= kMost) return std::nullopt;
    buffer.resize(buffer.size() * 4);
  }
}

}  // namespace

std::string Users::name(std::uint32_t user) {
  const auto known = names_.find(user);
  if (known != names_.end()) return known->second;
  const auto found = root_.is_machine() ? ask_system(user) : find_user(root_.read("/etc/passwd").value_or(""), user);
  if (!found) return std::to_string(user);
  return names_[user] = found->empty() ? std::to_string(user) : *found;
}

}  // namespace gpulse::host
