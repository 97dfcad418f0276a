// SPDX-License-Identifier: Apache-2.0
#include "codec/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gpulse::codec {

namespace {

constexpr std::size_t kWindow = std::size_t{1} << 18U;
constexpr std::size_t kMostFromPipe = std::size_t{1} << 28U;

// Reads until `bytes` is full or there is no more; false on an error.
template <class Read>
bool fill(std::vector<std::byte> &bytes, std::size_t wanted, Read read) {
  bytes.resize(wanted);
  std::size_t filled = 0;
  while (filled < wanted) {
    const auto got = read(bytes.data() + filled, wanted - filled, filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      bytes.resize(filled);
      return got == 0;
    }
    filled += static_cast<std::size_t>(got);
  }
  return true;
}

std::unexpected<Error> cannot_read(const std::string &path) {
  return failure(fmt::format("cannot read {}", path), std::strerror(errno));
}

// All that comes through a pipe. Where nobody writes into it yet it is waited for, as `cat` would.
Result<std::vector<std::byte>> read_pipe(int file, const std::string &path, const std::stop_token &stop) {
  constexpr int kPatience = 100;  // milliseconds between two looks at the stop token
  std::vector<std::byte> all;
  std::size_t filled = 0;
  while (!stop.stop_requested()) {
    pollfd wait{.fd = file, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, kPatience);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return cannot_read(path);
    if (filled > kMostFromPipe) {
      return failure(fmt::format("{} gives more than {} MiB through a pipe", path, kMostFromPipe >> 20U),
                     "put it into a file first");
    }
    all.resize(filled + kWindow);
    const auto got = ::read(file, all.data() + filled, kWindow);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return cannot_read(path);
    filled += static_cast<std::size_t>(got);
    if (got > 0) continue;
    all.resize(filled);
    return all;
  }
  return failure(fmt::format("stopped before the end of {}", path));
}

}  // namespace

Result<ByteSource> ByteSource::open(const std::string &path, const std::stop_token &stop) {
  const bool standard = path == "-";
  const std::string name = standard ? "the standard input" : path;
  // Without O_NONBLOCK a FIFO could not even be opened before somebody writes.
  UniqueFd file(standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                         : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return cannot_read(name);
  if (S_ISREG(info.st_mode)) return ByteSource(std::move(file), static_cast<std::uint64_t>(info.st_size));
  if (S_ISDIR(info.st_mode)) return failure(fmt::format("cannot read {}", name), "it is a folder");
  if (::isatty(file.get()) == 1) return failure(fmt::format("cannot read {}", name), "it is a terminal");
  // A device may never end.
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) {
    return failure(fmt::format("cannot read {}", name), "it is a device, not a file");
  }
  auto all = read_pipe(file.get(), name, stop);
  if (!all) return std::unexpected(all.error());
  return ByteSource(std::move(*all));
}

std::uint64_t ByteSource::next_data(std::uint64_t offset) const {
  if (!file_ || offset >= size_) return std::min(offset, size_);
  const auto found = ::lseek(file_.get(), static_cast<off_t>(offset), SEEK_DATA);
  if (found >= 0) return std::min(static_cast<std::uint64_t>(found), size_);
  return errno == ENXIO ? size_ : offset;
}

std::span<const std::byte> ByteSource::view(std::uint64_t offset, std::size_t size) {
  if (offset >= size_) return {};
  size = static_cast<std::size_t>(std::min<std::uint64_t>(size, size_ - offset));
  if (!file_) return memory_.subspan(static_cast<std::size_t>(offset), size);
  if (offset < window_at_ || offset + size > window_at_ + window_.size()) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(size, kWindow), size_ - offset));
    window_at_ = offset;
    fill(window_, wanted, [&](std::byte *to, std::size_t length, std::size_t done) {
      return ::pread(file_.get(), to, length, static_cast<off_t>(offset + done));
    });
  }
  const auto skip = static_cast<std::size_t>(offset - window_at_);
  if (skip >= window_.size()) return {};
  return std::span(window_).subspan(skip, std::min(size, window_.size() - skip));
}

}  // namespace gpulse::codec
