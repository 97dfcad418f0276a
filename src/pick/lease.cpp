// SPDX-License-Identifier: Apache-2.0
#include "pick/lease.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "base/unique_fd.hpp"
#include "base/user.hpp"

namespace gpulse::pick {

namespace {

using namespace std::chrono_literals;

constexpr const char *kLocks = "/run/lock", *kOwn = "/run/lock/gpulse", *kFallback = "/tmp/gpulse-leases";
// Held for a moment by whoever takes several, so that two who want the same ones do not end with half of them each.
constexpr const char *kTurn = ".turn";
constexpr mode_t kForAll = 01777, kFileForAll = 0666;
constexpr int kMostTries = 1000;

std::string error_words() { return std::strerror(errno); }

std::string user_words(uid_t user) {
  const auto name = user_name(user).value_or("");
  return name.empty() ? fmt::format("user {}", user) : name;
}

// A name that nobody else has at the moment.
std::string fresh_name(const std::string &path) {
  return fmt::format("{}.new-{}-{:08x}", path, ::getpid(), random_bits());
}

bool is_for_all(const struct stat &status) { return S_ISDIR(status.st_mode) && (status.st_mode & kForAll) == kForAll; }

// It gets its name only when everybody may use it, so that a process that is killed here leaves nobody shut out.
Result<void> make_folder(const std::string &path) {
  const auto made = fresh_name(path);
  if (::mkdir(made.c_str(), kForAll) != 0 || ::chmod(made.c_str(), kForAll) != 0) {
    return failure(fmt::format("cannot make the folder of the leases {}: {}", path, error_words()),
                   "name another one with GPULSE_LEASES");
  }
  bool done = ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0;
  if (!done && errno == EINVAL) done = ::mkdir(path.c_str(), kForAll) == 0 && ::chmod(path.c_str(), kForAll) == 0;
  const int error = errno;
  ::rmdir(made.c_str());
  if (done || error == EEXIST) return {};
  return failure(fmt::format("cannot make the folder of the leases {}: {}", path, std::strerror(error)),
                 "name another one with GPULSE_LEASES");
}

Result<void> check_folder(const LeasePlace &place) {
  struct stat status{};
  // A link is followed only where the user has named it.
  const int got = place.named ? ::stat(place.folder.c_str(), &status) : ::lstat(place.folder.c_str(), &status);
  if (got != 0) return failure(fmt::format("{}: {}", place.folder, error_words()));
  if (!S_ISDIR(status.st_mode)) return failure(place.folder + " is not a folder", "remove it");
  if (place.named || is_for_all(status)) return {};
  // Ours, but made by other means.
  if (status.st_uid == ::geteuid() && ::chmod(place.folder.c_str(), kForAll) == 0) return {};
  return failure(fmt::format("{} is not open to every user: it belongs to {}", place.folder, user_words(status.st_uid)),
                 fmt::format("its owner can help with chmod 1777, or name another one with GPULSE_LEASES"));
}

// "pid uid" of the one who took it last. Anybody may have written it, so that only numbers are taken from it.
std::string holder_words(int file) {
  std::array<char, 48> text{};
  const auto got = ::pread(file, text.data(), text.size(), 0);
  std::string_view rest(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const auto pid = parse_integer<std::uint32_t>(next_word(rest));
  const auto user = parse_integer<std::uint32_t>(next_word(rest));
  if (!pid || !user) return "held by another process";
  return fmt::format("held by pid {} of {}", *pid, user_words(*user));
}

// What cannot be written costs only words.
void write_holder(int file, bool alone) {
  if (::ftruncate(file, 0) != 0 || !alone) return;
  const auto text = fmt::format("{} {}\n", ::getpid(), ::geteuid());
  [[maybe_unused]] const auto written = ::pwrite(file, text.data(), text.size(), 0);
}

bool is_at(int file, const std::string &path) {
  struct stat open{};
  struct stat named{};
  return ::fstat(file, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

LeasePlace lease_place(const Environment &environment) {
  if (auto named = environment("GPULSE_LEASES"); named && !named->empty()) return {std::move(*named), true};
  struct stat status{};
  const bool open = ::lstat(kLocks, &status) == 0 && is_for_all(status);
  // Where the administrator has made it, it is the one.
  const bool made = !open && ::lstat(kOwn, &status) == 0 && status.st_uid == 0 && is_for_all(status);
  return {open || made ? kOwn : kFallback, false};
}

std::string lease_file_name(std::string_view uuid) {
  constexpr std::size_t kLongest = 200;
  std::string name;
  for (const char c : uuid.substr(0, kLongest / 3)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return name.empty() ? "%" : name;
}

Lease &Lease::operator=(Lease &&other) noexcept {
  if (this == &other) return *this;
  release();
  uuid_ = std::move(other.uuid_);
  files_ = std::move(other.files_);
  owner_ = other.owner_;
  passed_on_ = other.passed_on_;
  return *this;
}

// Closing alone would leave it to children that were made without fork(), by a bare system call; unlocking in one of
// them would end the parent's.
void Lease::release() {
  for (auto &file : files_) {
    if (file && !passed_on_ && owner_ == ::getpid()) ::flock(file.get(), LOCK_UN);
  }
  files_.clear();
}

std::vector<int> Lease::descriptors() const {
  std::vector<int> all;
  all.reserve(files_.size());
  for (const auto &file : files_) {
    if (file) all.push_back(file.get());
  }
  return all;
}

Result<void> Lease::pass_on() {
  for (auto &file : files_) {
    if (!file.share()) return failure(fmt::format("the lease of {} cannot be passed on: {}", uuid_, error_words()));
  }
  passed_on_ = true;
  return {};
}

Result<LeaseFolder> LeaseFolder::open(const LeasePlace &place) {
  struct stat status{};
  if (::lstat(place.folder.c_str(), &status) != 0 && errno == ENOENT) {
    if (auto made = make_folder(place.folder); !made) return std::unexpected(made.error());
  }
  if (auto good = check_folder(place); !good) return std::unexpected(good.error());
  return LeaseFolder(place.folder);
}

// O_CREAT on a file of somebody else's is refused in such a folder where fs.protected_regular is set: a file that is
// there is opened without it. Writing is for the hint alone: a lock can be had on a file that may only be read.
Result<OwnFile> LeaseFolder::open_file(const std::string &name) const {
  const auto path = path_ + "/" + name;
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto file = OwnFile::open(path, O_RDWR | kFlags);
    if (!file && (errno == EACCES || errno == EPERM || errno == EROFS)) file = OwnFile::open(path, O_RDONLY | kFlags);
    if (!file && errno != ENOENT) return failure(fmt::format("cannot open {}: {}", path, error_words()));
    if (file) {
      struct stat status{};
      if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return failure(path + " is not a file", "remove it");
      return file;
    }
    if (auto made = make_file(name); !made) return std::unexpected(made.error());
  }
  return failure(path + " goes as soon as it comes");
}

// As with the folder: it has its name only when everybody may open it. Somebody else may be first.
Result<void> LeaseFolder::make_file(const std::string &name) const {
  const auto path = path_ + "/" + name;
  const auto made = fresh_name(path_ + "/.");
  const UniqueFd file(::open(made.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileForAll));
  if (!file || ::fchmod(file.get(), kFileForAll) != 0)
    return failure(fmt::format("cannot make a file in {}: {}", path_, error_words()),
                   "name another folder with GPULSE_LEASES");
  const bool named = ::link(made.c_str(), path.c_str()) == 0;
  const int error = errno;
  ::unlink(made.c_str());
  if (named || error == EEXIST) return {};
  return failure(fmt::format("cannot make {}: {}", path, std::strerror(error)));
}

// An empty one: somebody else has it. The lock counts only on the file that others will find there.
Result<OwnFile> LeaseFolder::lock_file(const std::string &name, int how, std::chrono::milliseconds patience) const {
  const auto end = monotonic_now() + patience;
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto file = open_file(name);
    if (!file) return file;
    while (::flock(file->get(), how | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return failure(fmt::format("cannot lock {}/{}: {}", path_, name, error_words()));
      if (monotonic_now() >= end) return OwnFile();
      std::this_thread::sleep_for(1ms);
    }
    if (is_at(file->get(), path_ + "/" + name)) return file;
  }
  return failure(fmt::format("{}/{} is being replaced all the time", path_, name));
}

Result<std::optional<Lease>> LeaseFolder::take_one(const LeaseKey &key, std::string &holder) const {
  struct Step {
    std::string name;
    int how;
  };
  std::vector<Step> steps;
  if (!key.parent.empty()) steps.push_back({lease_file_name(key.parent), LOCK_SH});
  steps.push_back({lease_file_name(key.uuid), LOCK_EX});
  Lease lease;
  lease.uuid_ = key.uuid;
  lease.owner_ = ::getpid();
  // What cleans up /tmp leaves a folder alone that somebody has locked, and what is in it.
  auto folder = OwnFile::open(path_, O_RDONLY | O_DIRECTORY);
  if (folder && ::flock(folder.get(), LOCK_SH | LOCK_NB) == 0) lease.files_.push_back(std::move(folder));
  for (const auto &[name, how] : steps) {
    auto file = lock_file(name, how, 0ms);
    if (!file) return std::unexpected(file.error());
    if (!*file) {
      const auto other = open_file(name);
      holder = other ? holder_words(other->get()) : "held by another process";
      return std::nullopt;
    }
    write_holder(file->get(), how == LOCK_EX);
    lease.files_.push_back(std::move(*file));
  }
  return lease;
}

Result<Taken> LeaseFolder::take(std::span<const LeaseKey> keys, std::size_t count) const {
  // Without its turn it goes on all the same: nobody who stands still may stop everybody.
  const auto turn = lock_file(kTurn, LOCK_EX, 1s);
  if (!turn) return std::unexpected(turn.error());
  Taken taken;
  for (std::size_t i = 0; i < keys.size() && taken.leases.size() < count; ++i) {
    std::string holder;
    auto lease = take_one(keys[i], holder);
    if (lease && *lease) {
      taken.leases.push_back(std::move(**lease));
    } else {
      taken.missed.push_back({i, lease ? std::move(holder) : lease.error().line()});
    }
  }
  if (taken.leases.size() < count) taken.leases.clear();
  // Closing is not enough where another thread has made a child meanwhile that has the file too.
  if (*turn) ::flock(turn->get(), LOCK_UN);
  return taken;
}

}  // namespace gpulse::pick
