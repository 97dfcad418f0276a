// SPDX-License-Identifier: Apache-2.0
#include "share/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/user.hpp"

namespace gpulse::share {

namespace {

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string user_words(uid_t user) {
  const auto name = user_name(user).value_or("");
  return name.empty() ? fmt::format("user {}", user) : name;
}

Place own_place() {
  const auto runtime = variable("XDG_RUNTIME_DIR");
  if (runtime.starts_with('/')) return {runtime + "/gpulse", Trust::own};
  // The usual folder is there also for programs that were started without the variable.
  const auto usual = fmt::format("/run/user/{}", ::geteuid());
  struct stat status{};
  if (::lstat(usual.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid())
    return {usual + "/gpulse", Trust::own};
  return {fmt::format("/tmp/gpulse-{}", ::geteuid()), Trust::own};
}

std::string error_words() { return std::strerror(errno); }

}  // namespace

bool is_off() { return variable("GPULSE_AGENT") == "off"; }

std::vector<Place> places_to_look() {
  if (is_off()) return {};
  if (const auto named = variable("GPULSE_AGENT"); !named.empty()) return {{named, Trust::named}};
  return {{kSystemFolder, Trust::system}, own_place()};
}

Place place_to_serve() {
  if (const auto named = variable("GPULSE_AGENT"); !named.empty() && named != "off") return {named, Trust::named};
  // systemd has made the folder, and says so.
  if (variable("RUNTIME_DIRECTORY") == kSystemFolder) return {kSystemFolder, Trust::system};
  return ::geteuid() == 0 ? Place{kSystemFolder, Trust::system} : own_place();
}

Result<void> check_folder(const Place &place) {
  struct stat status{};
  if (::lstat(place.folder.c_str(), &status) != 0) return failure(fmt::format("{}: {}", place.folder, error_words()));
  if (!S_ISDIR(status.st_mode)) return failure(place.folder + " is not a folder");
  if (place.trust == Trust::own && status.st_uid != ::geteuid())
    return failure(fmt::format("{} is not ours: it belongs to {}", place.folder, user_words(status.st_uid)));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return failure(fmt::format("{} can be written by others", place.folder), "take that right away with chmod go-w");
  return {};
}

Result<void> check_file(const Place &place, int fd, const std::string &path) {
  struct stat folder{};
  struct stat file{};
  if (::stat(place.folder.c_str(), &folder) != 0 || ::fstat(fd, &file) != 0)
    return failure(fmt::format("{}: {}", path, error_words()));
  if (!S_ISREG(file.st_mode)) return failure(path + " is not a file");
  if (file.st_uid != folder.st_uid)
    return failure(fmt::format("{} is not its folder's owner's: it belongs to {}", path, user_words(file.st_uid)));
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) return failure(path + " can be written by others");
  return {};
}

Result<void> prepare_folder(const Place &place) {
  // The system's is for everybody to read; one in /tmp is nobody's business.
  const mode_t mode = place.trust == Trust::own ? 0700 : 0755;
  if (::mkdir(place.folder.c_str(), mode) == 0) {
    ::chmod(place.folder.c_str(), mode);  // whatever the mask says
  } else if (errno != EEXIST) {
    return failure(fmt::format("cannot make the folder {}: {}", place.folder, error_words()),
                   "name another one with GPULSE_AGENT");
  }
  if (auto good = check_folder(place); !good) return good;
  struct stat status{};
  if (::stat(place.folder.c_str(), &status) == 0 && status.st_uid != ::geteuid())
    return failure(fmt::format("{} is not ours: it belongs to {}", place.folder, user_words(status.st_uid)));
  return {};
}

Result<PlaceLock> PlaceLock::take(const Place &place) {
  const auto path = place.folder + "/" + kLockFile;
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return failure(fmt::format("cannot open {}: {}", path, error_words()));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> text{};
    const auto got = ::pread(file.get(), text.data(), text.size(), 0);
    const auto pid =
        parse_integer<std::int64_t>(trim({text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))}));
    return failure(fmt::format("an agent runs already in {}{}", place.folder, pid ? fmt::format(", pid {}", *pid) : ""),
                   "see gpulse agent status");
  }
  if (::ftruncate(file.get(), 0) != 0 || !write_all(file.get(), fmt::format("{}\n", ::getpid())))
    return failure(fmt::format("cannot write {}: {}", path, error_words()));
  return PlaceLock(std::move(file));
}

}  // namespace gpulse::share
