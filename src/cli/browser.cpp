// SPDX-License-Identifier: Apache-2.0
#include "cli/browser.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include <array>

namespace gpulse::cli {

namespace {

// The first that is there; it runs on by itself, and says nothing.
constexpr const char *kScript =
    "for one in xdg-open gio open wslview; do "
    "command -v \"$one\" >/dev/null 2>&1 || continue; "
    "[ \"$one\" = gio ] && set -- open \"$1\"; "
    "\"$one\" \"$@\" </dev/null >/dev/null 2>&1 & exit 0; "
    "done; exit 1";

bool has_screen() {
  for (const auto *name : {"DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"}) {
    if (const char *value = std::getenv(name); value != nullptr && *value != '\0') return true;
  }
  return false;
}

}  // namespace

bool open_browser(const std::string &address) {
  if (!has_screen()) return false;
  std::array<std::string, 5> words{"sh", "-c", kScript, "sh", address};
  std::array<char *, 6> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  // The agent keeps signals from its threads; the browser is not to inherit that.
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  sigset_t none{};
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const bool is_started = ::posix_spawnp(&pid, "sh", nullptr, &attributes, arguments.data(), ::environ) == 0;
  ::posix_spawnattr_destroy(&attributes);
  int status = 1;
  return is_started && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string browsable(const std::string &listening) {
  for (const std::string any : {"0.0.0.0:", "[::]:"}) {
    if (listening.starts_with(any)) return "localhost:" + listening.substr(any.size());
  }
  return listening;
}

}  // namespace gpulse::cli
