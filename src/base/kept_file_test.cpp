// SPDX-License-Identifier: Apache-2.0
#include "base/kept_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace gpulse {
namespace {

TEST(KeptFile, GivesWhatTheKernelSaysNow) {
  const Sysroot root;
  KeptFile file;
  std::string text;
  ASSERT_TRUE(file.read(text, root, "/proc/self/comm"));
  const auto before = text;
  ASSERT_TRUE(file.read(text, root, "/proc/self/comm"));
  EXPECT_EQ(text, before);
  KeptFile uptime;
  ASSERT_TRUE(uptime.read(text, root, "/proc/uptime"));
  const auto first = std::stod(text);
  ::usleep(30'000);
  ASSERT_TRUE(uptime.read(text, root, "/proc/uptime"));
  EXPECT_GT(std::stod(text), first);
}

TEST(KeptFile, ReadsFilesOfManyPagesWhole) {
  const Sysroot root;
  KeptFile file;
  std::string kept;
  for (const auto *name : {"/proc/kallsyms", "/proc/self/maps"}) {
    const auto plain = root.read(name);
    if (!plain || plain->size() < 8192) continue;
    const auto limit = plain->size() + 4096;
    file.forget();
    ASSERT_TRUE(file.read(kept, root, name, limit));
    ASSERT_TRUE(file.read(kept, root, name, limit));
    EXPECT_GE(kept.size() + 4096, plain->size()) << name;
    EXPECT_LE(kept.size(), limit);
  }
  ASSERT_TRUE(file.read(kept, root, "/proc/self/maps", 100));
  EXPECT_LE(kept.size(), 100U);
}

TEST(KeptFile, OfAProcessThatHasEndedThereIsNone) {
  const auto child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const Sysroot root;
  KeptFile file;
  std::string text;
  const auto path = "/proc/" + std::to_string(child) + "/stat";
  ASSERT_TRUE(file.read(text, root, path));
  EXPECT_EQ(text.find(std::to_string(child) + " ("), 0U);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(file.read(text, root, path));
  EXPECT_TRUE(errno == ENOENT || errno == ESRCH);
  EXPECT_TRUE(text.empty());
}

}  // namespace
}  // namespace gpulse
