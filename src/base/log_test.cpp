// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "base/child_process.hpp"
#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {
namespace {

std::string stream_of(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 ? fmt::format("{}:{}", info.st_dev, info.st_ino) : "";
}

// What `say` writes to the standard error, in a process of its own; `journal` makes JOURNAL_STREAM for that stream.
template <class Say, class Journal>
std::string said(Say say, Journal journal) {
  const TemporaryFolder folder;
  return in_child([&] {
    const auto path = folder.path("/said");
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ::dup2(file.get(), STDERR_FILENO);
    ::setenv("JOURNAL_STREAM", std::string(journal(STDERR_FILENO)).c_str(), 1);
    say();
    return read_small_file(path).value_or("nothing was written");
  });
}

std::string elsewhere(int) { return "8:12345"; }

TEST(LogLine, ForPeopleItHasTheNameOfTheProgram) {
  const auto say = [] {
    log_line(LogLevel::error, "no room in /run/gpulse");
    log_line(LogLevel::debug, "64 readings");
  };
  EXPECT_EQ(said(say, elsewhere), "gpulse: no room in /run/gpulse\ngpulse: 64 readings\n");
  EXPECT_EQ(said(say, [](int) { return ""; }), "gpulse: no room in /run/gpulse\ngpulse: 64 readings\n");
}

TEST(LogLine, ForTheJournalItHasItsLevel) {
  const auto say = [] {
    log_line(LogLevel::error, "a");
    log_line(LogLevel::warning, "b");
    log_line(LogLevel::notice, "c");
    log_line(LogLevel::info, "d");
    log_line(LogLevel::debug, "e");
  };
  EXPECT_EQ(said(say, stream_of), "<3>a\n<4>b\n<5>c\n<6>d\n<7>e\n");
}

TEST(LogLine, IsOnePrintableLineWhateverItIsMadeFrom) {
  const auto say = [] { log_line(LogLevel::info, "GPU\n<0>\x1b[31mforged\xff"); };
  EXPECT_EQ(said(say, stream_of), "<6>GPU <0> [31mforged\uFFFD\n");
}

TEST(LogLine, OfAnyLengthGoesIntoOneWriteToAPipe) {
  const auto say = [] { log_line(LogLevel::info, std::string(4084, 'x') + "äöü" + std::string(9000, 'x')); };
  EXPECT_EQ(said(say, elsewhere), "gpulse: " + std::string(4084, 'x') + "ä\n") << "4095 bytes; ö would make it 4097";
}

TEST(LogLine, WithoutAReaderOrAStreamItIsLost) {
  const auto outcome = in_child([] {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return "no pipe";
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    log_line(LogLevel::error, "nobody reads this");
    ::close(STDERR_FILENO);
    log_line(LogLevel::error, "nor this");
    sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGPIPE) == 0 ? "went on" : "a signal waits";
  });
  EXPECT_EQ(outcome, "went on");
}

}  // namespace
}  // namespace gpulse
