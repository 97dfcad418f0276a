// SPDX-License-Identifier: Apache-2.0
#include "sink/gzip.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "base/file.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::sink {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 17U;
constexpr int kGzip = 15 + 16;  // the largest window, and gzip's head and checksum around it
constexpr int kMemory = 8;

// A stream of zlib's, which is ended whatever happens.
class Deflate {
 public:
  Deflate() {
    good_ = ::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  Deflate(const Deflate &) = delete;
  Deflate &operator=(const Deflate &) = delete;
  ~Deflate() {
    if (good_) ::deflateEnd(&stream_);
  }

  explicit operator bool() const { return good_; }

  // False with errno.
  bool write(int to, std::span<unsigned char> piece, bool last) {
    stream_.next_in = piece.data();
    stream_.avail_in = static_cast<unsigned>(piece.size());
    do {
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<unsigned>(out_.size());
      ::deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      const auto made = out_.size() - stream_.avail_out;
      if (!write_all(to, {reinterpret_cast<const char *>(out_.data()), made}))
        return false;  // NOLINT(*-reinterpret-cast)
    } while (stream_.avail_out == 0);
    return true;
  }

 private:
  z_stream stream_{};
  std::vector<unsigned char> out_ = std::vector<unsigned char>(kPiece);
  bool good_ = false;
};

// False with errno; ECANCELED when stopped.
bool compress(int from, int to, const std::stop_token &stop) {
  Deflate deflate;
  if (!deflate) return errno = ENOMEM, false;
  std::vector<unsigned char> piece(kPiece);
  while (!stop.stop_requested()) {
    const auto got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (!deflate.write(to, std::span(piece).first(static_cast<std::size_t>(got)), got == 0)) return false;
    if (got == 0) return true;
  }
  return errno = ECANCELED, false;
}

// Time and rights go with it, as gzip does it. False with errno.
bool finish(int from, int to) {
  struct stat info{};
  if (::fstat(from, &info) != 0 || ::fchmod(to, info.st_mode & 0777U) != 0) return false;
  const std::array times{info.st_atim, info.st_mtim};
  (void)::futimens(to, times.data());
  // The file it replaces is removed next: a power cut must not cost both.
  return ::fsync(to) == 0;
}

}  // namespace

Result<void> compress_file(const std::string &file, const std::stop_token &stop) {
  const auto whole = file + std::string(kCompressed);
  const auto unfinished = whole + std::string(kUnfinished);
  const UniqueFd from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  ::unlink(unfinished.c_str());
  const UniqueFd to(from ? ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1);
  if (!from || !to || !compress(from.get(), to.get(), stop) || !finish(from.get(), to.get()) ||
      std::rename(unfinished.c_str(), whole.c_str()) != 0) {
    auto error = failure(fmt::format("cannot compress {}", file), std::strerror(errno));
    if (to) ::unlink(unfinished.c_str());
    return error;
  }
  ::unlink(file.c_str());
  return {};
}

}  // namespace gpulse::sink
