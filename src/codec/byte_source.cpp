// SPDX-License-Identifier: Apache-2.0
#include "codec/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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

}  // namespace

Result<ByteSource> ByteSource::open(const std::string &path) {
  UniqueFd file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return cannot_read(path);
  if (S_ISDIR(info.st_mode)) return failure(fmt::format("cannot read {}", path), "it is a folder");
  if (S_ISREG(info.st_mode)) return ByteSource(std::move(file), static_cast<std::uint64_t>(info.st_size));
  std::vector<std::byte> all;
  while (all.size() < kMostFromPipe) {
    std::vector<std::byte> piece;
    const bool good = fill(piece, kWindow,
                           [&](std::byte *to, std::size_t size, std::size_t) { return ::read(file.get(), to, size); });
    if (!good) return cannot_read(path);
    all.insert(all.end(), piece.begin(), piece.end());
    if (piece.size() < kWindow) break;
  }
  return ByteSource(std::move(all));
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
