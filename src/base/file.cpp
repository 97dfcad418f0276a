// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>

#include "base/clock.hpp"

namespace gpulse {

namespace {

std::unexpected<Error> cannot(const char *what, const std::string &path, int why) {
  return failure(fmt::format("cannot {} {}", what, path), std::strerror(why));
}

// Where the links lead to, which need not be there yet; nothing when they lead in a circle.
std::optional<std::filesystem::path> behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code none;
    const auto target = std::filesystem::read_symlink(path, none);
    if (none) return path;
    path = path.parent_path() / target;  // an absolute target stands alone
  }
  return std::nullopt;
}

// A new file beside the other, under a name that nobody can foresee. Removed again unless it takes the other's place.
class NewFile {
 public:
  NewFile(const std::filesystem::path &other, mode_t mode) {
    constexpr int kTries = 10;
    for (int i = 0; i < kTries && !file_; ++i) {
      std::uint64_t random = 0;
      if (::getrandom(&random, sizeof random, 0) != sizeof random) return;
      path_ = fmt::format("{}.{:016x}", other.string(), random);
      const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
      if (file < 0 && errno != EEXIST) return;
      file_ = UniqueFd(file);
    }
  }
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  ~NewFile() {
    if (file_ && !placed_) ::unlink(path_.c_str());
  }

  explicit operator bool() const { return static_cast<bool>(file_); }

  // All of these: false with errno.
  bool write(std::string_view text) { return write_all(file_.get(), text); }
  bool take_after(const struct stat &other) {
    // Only root can give a file away; anybody else keeps what he has written.
    [[maybe_unused]] const int owner = ::fchown(file_.get(), other.st_uid, other.st_gid);
    return ::fchmod(file_.get(), other.st_mode & 07777U) == 0;
  }
  bool take_place_of(const std::filesystem::path &other) {
    placed_ = std::rename(path_.c_str(), other.c_str()) == 0;
    return placed_;
  }

 private:
  std::string path_;
  UniqueFd file_;
  bool placed_ = false;
};

}  // namespace

Result<std::string> read_small_file(const std::string &path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return cannot("read", path, errno);
  if (S_ISDIR(info.st_mode)) return failure(fmt::format("{} is a folder, not a file", path));
  if (!S_ISREG(info.st_mode)) return failure(fmt::format("{} is not a file", path));
  std::string text(kSmallFile + 1, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const auto got = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > kSmallFile) return failure(fmt::format("{} is larger than {} MiB", path, kSmallFile >> 20U));
  text.resize(filled);
  return text;
}

[[gnu::hot]] bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

NoPipeSignal::NoPipeSignal() noexcept {
  sigset_t broken_pipe;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before_);
}

NoPipeSignal::~NoPipeSignal() {
  const int why = errno;
  sigset_t pending;
  ::sigpending(&pending);
  if (::sigismember(&pending, SIGPIPE) == 1) {
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    // The signal goes to the thread that wrote; taken here, it is not pending any more.
    constexpr timespec kNow{};
    (void)::sigtimedwait(&broken_pipe, nullptr, &kNow);
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = why;
}

bool write_without_signal(int fd, std::string_view text) noexcept {
  const NoPipeSignal quiet;
  return write_all(fd, text);
}

UniqueFd open_to_append(const std::string &path, const std::stop_token &stop) {
  constexpr mode_t kMode = 0666;
  constexpr int kFlags = O_APPEND | O_CLOEXEC | O_NOCTTY;
  constexpr std::chrono::milliseconds kPatience{50};
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode)) {
    // Not O_RDWR: a FIFO that we read ourselves would fill up in silence.
    UniqueFd fifo(::open(path.c_str(), O_WRONLY | O_NONBLOCK | kFlags));
    while (!fifo && errno == ENXIO && sleep_until(monotonic_now() + kPatience, stop)) {
      fifo = UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | kFlags));
    }
    if (fifo) ::fcntl(fifo.get(), F_SETFL, O_APPEND);  // blocks from now on
    return fifo;
  }
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | kFlags, kMode));
  if (file) return file;
  const int why = errno;
  // One that may be written to but not read.
  file = UniqueFd(::open(path.c_str(), O_WRONLY | kFlags));
  if (!file) errno = why;
  return file;
}

bool append_whole(int fd, std::string_view bytes) noexcept {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const auto done = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      const int why = errno;
      struct stat info{};
      // Without O_APPEND the next piece would come behind a hole.
      const bool at_end = (::fcntl(fd, F_GETFL) & O_APPEND) != 0;
      if (written > 0 && at_end && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        [[maybe_unused]] const int cut = ::ftruncate(fd, info.st_size - static_cast<off_t>(written));
      }
      errno = why;
      return false;
    }
    written += static_cast<std::size_t>(done);
  }
  return true;
}

Result<void> replace_file(const std::string &path, std::string_view text) {
  const auto target = behind_links(path);
  if (!target) return cannot("write", path, ELOOP);
  struct stat old{};
  const bool exists = ::stat(target->c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return failure(fmt::format("cannot write {}", path), "it is not a file");
  // A file that may not be written to is not to be replaced either.
  if (exists && ::access(target->c_str(), W_OK) != 0) return cannot("write", path, errno);
  constexpr mode_t kPrivate = 0600;
  constexpr mode_t kUsual = 0666;
  NewFile fresh(*target, exists ? kPrivate : kUsual);
  if (!fresh || !fresh.write(text) || (exists && !fresh.take_after(old)) || !fresh.take_place_of(*target)) {
    return cannot("write", path, errno);
  }
  return {};
}

}  // namespace gpulse
