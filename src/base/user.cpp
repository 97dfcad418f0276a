// SPDX-License-Identifier: Apache-2.0
#include "base/user.hpp"

#include <pwd.h>

#include <cerrno>

#include "base/text.hpp"

namespace gpulse {

std::optional<std::string> user_name(std::uint32_t user) {
  constexpr std::size_t kMost = 1U << 20U;
  std::string buffer(1024, '\0');
  for (;;) {
    passwd entry{};
    passwd *found = nullptr;
    const int error = ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr) return found->pw_name;
    if (error == EINTR) continue;
    if (error == 0 || error == ENOENT) return std::string();
    if (error != ERANGE || buffer.size() >= kMost) return std::nullopt;
    buffer.resize(buffer.size() * 4);
  }
}

}  // namespace gpulse
