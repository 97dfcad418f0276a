// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/file.hpp"
#include "base/text.hpp"

namespace gpulse {

namespace {

// A pipe takes this much in one piece.
constexpr std::size_t kMostBytes = 4096;

// JOURNAL_STREAM says which stream is the journal's, "device:inode": it is handed down to programs whose output has
// been sent elsewhere since.
bool is_journal(int fd) {
  const char *stream = std::getenv("JOURNAL_STREAM");
  struct stat info{};
  if (stream == nullptr || ::fstat(fd, &info) != 0) return false;
  return fmt::format("{}:{}", info.st_dev, info.st_ino) == stream;
}

}  // namespace

void log_line(LogLevel level, std::string_view text) noexcept {
  try {
    auto line = is_journal(STDERR_FILENO) ? fmt::format("<{}>", static_cast<int>(level)) : std::string("gpulse: ");
    const Text clean(text);
    line += first_bytes(clean, kMostBytes - line.size() - 1);
    line += '\n';
    write_without_signal(STDERR_FILENO, line);
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for the line, and nowhere else to say so
  }
}

}  // namespace gpulse
