// SPDX-License-Identifier: Apache-2.0
#include "sink/replaced_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/file.hpp"

namespace gpulse::sink {

namespace {

constexpr mode_t kForEverybody = 0644;

std::unexpected<Error> cannot_write(const std::string &path) {
  return failure(fmt::format("cannot write {}", path), std::strerror(errno));
}

std::unexpected<Error> is_written_by_another(const std::string &path) {
  return failure(fmt::format("{} is being written by another gpulse", path), "choose another file");
}

bool is_locked_by_another(int file) { return ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

bool is_named(const std::string &path, const struct stat &file) {
  struct stat named{};
  return ::lstat(path.c_str(), &named) == 0 && named.st_dev == file.st_dev && named.st_ino == file.st_ino;
}

// A link stays one.
std::string behind_links(const std::string &path) {
  std::error_code none;
  const auto real = std::filesystem::weakly_canonical(path, none);
  return none ? path : real.string();
}

}  // namespace

Result<void> ReplacedFile::check(const Target &target) {
  struct stat info{};
  if (::stat(target.path.c_str(), &info) != 0) return {};
  if (!S_ISREG(info.st_mode)) return failure(fmt::format("cannot write {}", target.path), "it is not a file");
  if (info.st_size == 0 || target.existing == Existing::overwrite) return {};
  const UniqueFd file(::open(target.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  std::string text(target.head.size(), '\0');
  const auto got = ::pread(file.get(), text.data(), text.size(), 0);
  if (got >= 0 && std::string_view(text).substr(0, static_cast<std::size_t>(got)) == target.head) return {};
  return failure(fmt::format("{} is there already, and is no such file of gpulse's", target.path),
                 "--force overwrites it");
}

ReplacedFile::ReplacedFile(const std::string &path) : path_(behind_links(path)), temporary_(path_ + ".tmp") {}

Result<ReplacedFile> ReplacedFile::open(const Target &target) {
  ReplacedFile file(target.path);
  file.current_ = UniqueFd(::open(file.path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.current_ && is_locked_by_another(file.current_.get())) return is_written_by_another(file.path_);
  if (const auto good = check(target); !good) return std::unexpected(good.error());
  // Takes the one away that a killed writer has left behind, and tells now whether one can be written at all.
  const auto temporary = file.begin();
  if (!temporary) return std::unexpected(temporary.error());
  ::unlink(file.temporary_.c_str());
  return file;
}

// The temporary file, empty and locked. Its name can be foreseen, so that a killed writer leaves one at the most; what
// others may have put there is not written to.
Result<UniqueFd> ReplacedFile::begin() const {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    UniqueFd file(
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
    if (!file && errno != ELOOP && errno != ENXIO) return cannot_write(temporary_);
    struct stat info{};
    const bool ours = file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink <= 1 &&
                      info.st_uid == ::geteuid();
    if (!ours) {
      if (::unlink(temporary_.c_str()) != 0 && errno != ENOENT) return cannot_write(temporary_);
      continue;
    }
    if (is_locked_by_another(file.get())) return is_written_by_another(path_);
    // Another writer may have moved it to its place meanwhile.
    if (!is_named(temporary_, info)) continue;
    if (::ftruncate(file.get(), 0) != 0) return cannot_write(temporary_);
    return file;
  }
  return is_written_by_another(path_);
}

Result<void> ReplacedFile::write(std::string_view text) {
  auto file = begin();
  if (!file) return std::unexpected(file.error());
  if (!write_all(file->get(), text) || ::fchmod(file->get(), kForEverybody) != 0 ||
      std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const auto error = cannot_write(path_);
    ::unlink(temporary_.c_str());
    return error;
  }
  current_ = std::move(*file);
  return {};
}

void ReplacedFile::remove() {
  struct stat info{};
  if (current_ && ::fstat(current_.get(), &info) == 0 && is_named(path_, info)) ::unlink(path_.c_str());
  current_ = UniqueFd();
}

}  // namespace gpulse::sink
