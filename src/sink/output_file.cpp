// SPDX-License-Identifier: Apache-2.0
#include "sink/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file.hpp"

namespace gpulse::sink {

namespace {

std::unexpected<Error> cannot_write(const std::string &name) {
  return failure(fmt::format("cannot write {}", name), std::strerror(errno));
}

// The first bytes of the file; fewer where it ends.
std::string beginning(int file, std::size_t size) {
  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const auto got = ::pread(file, text.data() + have, size - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

// Which of the heads a file begins with.
std::optional<std::size_t> find_head(int file, std::span<const std::string> heads) {
  std::size_t longest = 0;
  for (const auto &head : heads) longest = std::max(longest, head.size());
  const auto text = beginning(file, longest);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (text.starts_with(heads[i])) return i;
  }
  return std::nullopt;
}

// Where the last whole line ends; 0 where there is none.
Result<off_t> end_of_lines(int file, off_t size) {
  std::array<char, 65536> piece{};
  for (off_t end = size; end > 0;) {
    const auto length = std::min<off_t>(end, static_cast<off_t>(piece.size()));
    const auto got = ::pread(file, piece.data(), static_cast<std::size_t>(length), end - length);
    if (got != length) return failure("the file changes while it is read");
    const std::string_view text(piece.data(), static_cast<std::size_t>(length));
    if (const auto at = text.rfind('\n'); at != std::string_view::npos) {
      return end - length + static_cast<off_t>(at) + 1;
    }
    end -= length;
  }
  return 0;
}

// Unless there is one of that name. False with errno.
bool rename_to_new(const std::string &from, const std::string &to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // A file system that does not know how.
  if (errno != EINVAL || ::access(to.c_str(), F_OK) == 0) return false;
  return std::rename(from.c_str(), to.c_str()) == 0;
}

Result<void> check_file(const OutputFile::Target &target, int file, off_t size) {
  if (size == 0 || target.existing == Existing::overwrite) return {};
  if (target.existing == Existing::refuse) {
    return failure(fmt::format("{} is there already", target.path), "--append goes on with it, --force overwrites it");
  }
  if (find_head(file, target.heads)) return {};
  return failure(fmt::format("{} is no log of this format with these fields", target.path),
                 "--append cannot go on with it; choose another file");
}

}  // namespace

Result<void> OutputFile::check(const Target &target) {
  struct stat info{};
  if (target.path == "-" || ::stat(target.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const UniqueFd file(::open(target.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return check_file(target, file.get(), info.st_size);
}

Result<OutputFile> OutputFile::open(const Target &target, const std::stop_token &stop) {
  const bool standard = target.path == "-";
  OutputFile output(
      standard ? "the standard output" : target.path,
      standard ? UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) : open_to_append(target.path, stop));
  struct stat info{};
  if (!output.file_ || ::fstat(output.file_.get(), &info) != 0) return cannot_write(output.name_);
  // What the shell opened it has prepared too.
  output.regular_ = S_ISREG(info.st_mode) && !standard;
  if (output.regular_) {
    if (const auto good = output.prepare(target); !good) return std::unexpected(good.error());
  }
  return output;
}

Result<void> OutputFile::prepare(const Target &target) {
  const int file = file_.get();
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return failure(fmt::format("{} is being written by another gpulse", name_), "choose another file");
  }
  struct stat info{};
  if (::fstat(file, &info) != 0) return cannot_write(name_);
  // Again, now that nobody else can write to it.
  if (const auto good = check_file(target, file, info.st_size); !good) return good;
  Result<off_t> keep = 0;
  if (target.existing == Existing::append) {
    head_ = find_head(file, target.heads);
    keep = end_of_lines(file, info.st_size);
    if (!keep) return std::unexpected(keep.error());
  }
  if (*keep == 0) head_.reset();
  length_ = static_cast<std::uint64_t>(*keep);
  last_write_ = WallTime(std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec));
  if (*keep != info.st_size && ::ftruncate(file, *keep) != 0) return cannot_write(name_);
  return {};
}

Result<void> OutputFile::move_to(const std::string &path, const std::string &old_name) {
  struct stat own{};
  struct stat named{};
  if (::fstat(file_.get(), &own) != 0) return cannot_write(name_);
  // Somebody else may have moved or removed it: then there is only a new one to begin.
  const bool there = ::lstat(path.c_str(), &named) == 0;
  if (there && (named.st_dev != own.st_dev || named.st_ino != own.st_ino)) {
    return failure(fmt::format("{} is not the file any more that was written to", name_),
                   "another program replaced it");
  }
  if (there && !rename_to_new(path, old_name)) return cannot_write(old_name);
  UniqueFd next(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, own.st_mode & 0777U));
  if (!next) {
    const auto error = cannot_write(name_);
    if (there) (void)rename_to_new(old_name, path);
    return error;
  }
  (void)::flock(next.get(), LOCK_EX | LOCK_NB);
  (void)::fchmod(next.get(), own.st_mode & 0777U);
  file_ = std::move(next);
  length_ = 0;
  return {};
}

Result<void> OutputFile::write(std::string_view lines) {
  const NoPipeSignal quiet;
  if (!append_whole(file_.get(), lines)) return cannot_write(name_);
  size_ += lines.size();
  length_ += lines.size();
  return {};
}

}  // namespace gpulse::sink
