// SPDX-License-Identifier: Apache-2.0
#include "base/kept_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gpulse {

namespace {

// The kernel fills a page with whole lines: an answer that leaves so much of it free is the whole.
constexpr std::size_t kSurelyAll = 2048;
constexpr std::size_t kStep = 1U << 14U;

}  // namespace

bool KeptFile::read_again(std::string &buffer, std::size_t limit) {
  buffer.clear();
  while (buffer.size() < limit) {
    const auto filled = buffer.size();
    const auto room = std::min(limit - filled, kStep);
    ssize_t got = 0;
    buffer.resize_and_overwrite(filled + room, [&](char *text, std::size_t) {
      do got = ::pread(file_.get(), text + filled, room, static_cast<off_t>(filled));
      while (got < 0 && errno == EINTR);
      return filled + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    });
    if (got < 0) return false;
    if (got == 0 || (filled == 0 && static_cast<std::size_t>(got) < kSurelyAll)) break;
  }
  return true;
}

bool KeptFile::read(std::string &buffer, const Sysroot &root, std::string_view absolute, std::size_t limit) {
  if (!root.is_machine()) return root.read_into(buffer, absolute, limit);
  if (file_ && read_again(buffer, limit) && !buffer.empty()) return true;
  file_ = UniqueFd(::open(root.path(absolute).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file_ && read_again(buffer, limit)) return true;
  const int error = errno;
  forget();
  buffer.clear();
  errno = error;
  return false;
}

}  // namespace gpulse
