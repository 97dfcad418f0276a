// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/temporary_folder.hpp"

namespace gpulse {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class File : public ::testing::Test {
 protected:
  std::string path(const std::string &name) const { return folder.path("/" + name); }
  void put(const std::string &name, std::string_view text) const { std::ofstream(path(name)) << text; }
  std::string text(const std::string &name) const { return read_small_file(path(name)).value_or("(unreadable)"); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path("")), fs::directory_iterator()));
  }
  unsigned mode(const std::string &name) const { return static_cast<unsigned>(fs::status(path(name)).permissions()); }

  TemporaryFolder folder;
};

TEST_F(File, IsReplacedWithItsMode) {
  put("look", "old");
  fs::permissions(path("look"), fs::perms(0640));
  ASSERT_TRUE(replace_file(path("look"), "new"));
  EXPECT_EQ(text("look"), "new");
  EXPECT_EQ(mode("look"), 0640U);
  EXPECT_EQ(files(), 1);
}

TEST_F(File, ANewOneHasTheUsualMode) {
  const auto before = ::umask(027);
  const auto done = replace_file(path("look"), "new");
  ::umask(before);
  ASSERT_TRUE(done);
  EXPECT_EQ(mode("look"), 0640U);
}

// As people keep their settings in a repository of their own.
TEST_F(File, LinksAreWrittenThrough) {
  fs::create_directory(path("dotfiles"));
  put("dotfiles/look", "old");
  fs::create_symlink("dotfiles/look", path("near"));
  fs::create_symlink(path("near"), path("far"));
  ASSERT_TRUE(replace_file(path("far"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("far")));
  EXPECT_TRUE(fs::is_symlink(path("near")));
  EXPECT_EQ(text("dotfiles/look"), "new");
  EXPECT_EQ(files(), 3);
}

TEST_F(File, ALinkThatLeadsNowhereYetIsFilled) {
  fs::create_directory(path("dotfiles"));
  fs::create_symlink("dotfiles/look", path("look"));
  ASSERT_TRUE(replace_file(path("look"), "new"));
  EXPECT_EQ(text("dotfiles/look"), "new");
  EXPECT_TRUE(fs::is_symlink(path("look")));
}

TEST_F(File, LinksInACircleAreAnError) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  const auto done = replace_file(path("a"), "new");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().line(), HasSubstr("symbolic links"));
}

TEST_F(File, OnlyFilesAreReplacedOrRead) {
  fs::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  for (const auto &name : {path("folder"), path("fifo"), std::string("/dev/null"), std::string("/dev/zero")}) {
    EXPECT_FALSE(replace_file(name, "new")) << name;
    const auto read = read_small_file(name);
    ASSERT_FALSE(read) << name;
    EXPECT_THAT(read.error().line(), HasSubstr("not a file")) << name;
  }
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
  EXPECT_EQ(files(), 2);
}

TEST_F(File, AFullDiskLeavesTheOldOneAndNothingElse) {
  put("look", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = before;
  tight.rlim_cur = 2;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto done = replace_file(path("look"), "new");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().line(), HasSubstr("File too large"));
  EXPECT_EQ(text("look"), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(File, WhatIsTooLargeIsNotRead) {
  put("look", std::string(kSmallFile, 'x'));
  EXPECT_TRUE(read_small_file(path("look")));
  fs::resize_file(path("look"), std::uintmax_t{5} << 30U);
  EXPECT_THAT(read_small_file(path("look")).error().line(), HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(read_small_file(path("none")).error().line(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace gpulse
