// SPDX-License-Identifier: Apache-2.0
#include "base/service_manager.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {

namespace {

// systemd ignores a message of more than 4096 bytes.
constexpr std::size_t kMostStatusBytes = 2048;

std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// Other kinds, such as "vsock:…", are for the manager of a virtual machine, not for its services.
std::string socket_address(std::string_view name) {
  const bool known = name.starts_with('/') || (name.starts_with('@') && name.size() > 1);
  if (!known || name.size() >= sizeof(sockaddr_un::sun_path)) return {};
  std::string address(name);
  if (address.front() == '@') address.front() = '\0';
  return address;
}

std::optional<std::chrono::microseconds> half_of_watchdog() {
  // The variables are handed down to children, too, which are not watched.
  const auto process = variable("WATCHDOG_PID");
  if (!process.empty() && parse_integer<pid_t>(process) != ::getpid()) return std::nullopt;
  const auto time = parse_integer<std::int64_t>(variable("WATCHDOG_USEC"));
  if (!time || *time < 2) return std::nullopt;
  return std::chrono::microseconds(*time / 2);
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  ServiceManager manager;
  manager.address_ = socket_address(variable("NOTIFY_SOCKET"));
  if (!manager.address_.empty()) manager.alive_interval_ = half_of_watchdog();
  return manager;
}

bool ServiceManager::reloading(Monotonic now) const noexcept {
  if (address_.empty()) return true;
  // steady_clock is CLOCK_MONOTONIC, whose time the manager wants.
  const auto time = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch());
  try {
    return tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", time.count()));
  } catch (...) {
    return false;
  }
}

bool ServiceManager::status(std::string_view line) const noexcept {
  if (address_.empty()) return true;
  try {
    const Text clean(line);
    return tell(fmt::format("STATUS={}", first_bytes(clean, kMostStatusBytes)));
  } catch (...) {
    return false;
  }
}

bool ServiceManager::tell(std::string_view message) const noexcept {
  if (address_.empty()) return true;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  address_.copy(static_cast<char *>(to.sun_path), sizeof to.sun_path);
  // A name is as long as it is said to be; a path ends with a NUL.
  const auto name_end = address_.size() + (address_.front() == '\0' ? 0 : 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_end);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return false;
  for (;;) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how the interface wants it
    const auto sent = ::sendto(socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr *>(&to), length);
    if (sent >= 0) return static_cast<std::size_t>(sent) == message.size();
    if (errno != EINTR) return false;
  }
}

}  // namespace gpulse
