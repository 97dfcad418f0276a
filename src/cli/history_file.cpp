// SPDX-License-Identifier: Apache-2.0
#include "cli/history_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "share/connection.hpp"

namespace gpulse::cli {

namespace {

constexpr const char *kFile = "/history.db";
constexpr const char *kSystemFolder = "/var/lib/gpulse";

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string own_folder() {
  if (const auto state = variable("XDG_STATE_HOME"); state.starts_with('/')) return state + "/gpulse";
  const auto home = variable("HOME");
  return home.starts_with('/') ? home + "/.local/state/gpulse" : std::string();
}

}  // namespace

std::string history_to_write(const share::Place &place) {
  if (place.trust == share::Trust::named) return place.folder + kFile;
  // systemd has made the folder, and says so.
  const auto state = variable("STATE_DIRECTORY");
  const auto folder = place.trust != share::Trust::system ? own_folder() : state.empty() ? kSystemFolder : state;
  return folder.empty() ? folder : folder + kFile;
}

Result<std::string> history_to_read(const std::string &wanted) {
  if (!wanted.empty()) return wanted;
  std::string refused;
  for (const auto &place : share::places_to_look()) {
    // A running agent knows best where it writes.
    if (auto connection = share::Connection::open(place)) {
      const auto status = connection->status();
      if (status && !status->history.file.empty()) return status->history.file.str();
    }
    auto file = history_to_write(place);
    if (file.empty()) continue;
    if (::access(file.c_str(), R_OK) == 0) return file;
    if (refused.empty() && ::access(file.c_str(), F_OK) == 0) refused = file;
  }
  if (!refused.empty())
    return failure(fmt::format("{} cannot be read", refused), "ask its owner, or use --history FILE");
  return failure("there is no history",
                 "an agent keeps one: start gpulse serve, or the service of that name; --history FILE names a file");
}

}  // namespace gpulse::cli
