// SPDX-License-Identifier: Apache-2.0
#include "base/sysroot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/temporary_folder.hpp"

namespace gpulse {
namespace {

TEST(Sysroot, ReadsBelowTheRoot) {
  const TemporaryFolder folder;
  folder.write("/proc/uptime", "1.00 2.00\n");
  const Sysroot root(folder.path("///"));
  EXPECT_FALSE(root.is_machine());
  EXPECT_EQ(root.path("/proc/uptime"), folder.path("/proc/uptime"));
  EXPECT_EQ(root.read("/proc/uptime"), "1.00 2.00\n");
  EXPECT_TRUE(root.exists("/proc"));
  EXPECT_FALSE(root.exists("/sys"));
}

TEST(Sysroot, TheRootItselfIsTheMachine) {
  EXPECT_TRUE(Sysroot().is_machine());
  EXPECT_TRUE(Sysroot("/").is_machine());
  EXPECT_TRUE(Sysroot().read("/proc/self/stat").has_value());
}

TEST(Sysroot, WritesIntoFilesThatAreThere) {
  const TemporaryFolder folder;
  folder.write("/sys/power1_cap", "300000000\n");
  EXPECT_TRUE(folder.root().write("/sys/power1_cap", "1"));
  EXPECT_EQ(folder.root().read("/sys/power1_cap"), "1");
  EXPECT_FALSE(folder.root().write("/sys/power2_cap", "1"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(folder.root().exists("/sys/power2_cap"));
}

TEST(Sysroot, SaysWhyItCannotRead) {
  const TemporaryFolder folder;
  folder.make_folder("/proc/folder");
  std::string buffer = "old";
  EXPECT_FALSE(folder.root().read_into(buffer, "/proc/missing"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(buffer.empty());
  EXPECT_FALSE(folder.root().read_into(buffer, "/proc/folder"));
  EXPECT_EQ(errno, EISDIR);
}

TEST(Sysroot, ReadsAtMostTheLimit) {
  const TemporaryFolder folder;
  const std::string text(10'000, 'x');
  folder.write("/big", text);
  EXPECT_EQ(folder.root().read("/big"), text);
  EXPECT_EQ(folder.root().read("/big", 4096)->size(), 4096U);
  EXPECT_EQ(folder.root().read("/big", 4097)->size(), 4097U);
  EXPECT_EQ(folder.root().read("/big", 1), "x");
  folder.write("/empty", "");
  EXPECT_EQ(folder.root().read("/empty"), "");
}

TEST(Sysroot, ReadsAPieceWhole) {
  const TemporaryFolder folder;
  folder.write("/small", "41000\n");
  folder.write("/empty", "");
  folder.write("/big", std::string(40'000, 'x'));
  std::string buffer = "old";
  EXPECT_TRUE(folder.root().read_piece(buffer, "/small"));
  EXPECT_EQ(buffer, "41000\n");
  EXPECT_TRUE(folder.root().read_piece(buffer, "/empty"));
  EXPECT_EQ(buffer, "");
  EXPECT_TRUE(folder.root().read_piece(buffer, "/big", 5000));
  EXPECT_EQ(buffer.size(), 5000U);
  EXPECT_FALSE(folder.root().read_piece(buffer, "/missing"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(Sysroot().read_piece(buffer, "/proc/self/stat"));
  EXPECT_TRUE(buffer.ends_with('\n'));
}

TEST(Sysroot, NumbersLinksAndLists) {
  const TemporaryFolder folder;
  folder.write("/n/good", "42\n");
  folder.write("/n/bad", "42 kB\n");
  folder.link("/l/link", "../n/good");
  const auto root = folder.root();
  EXPECT_EQ(root.read_number("/n/good"), 42U);
  EXPECT_EQ(root.read_number("/n/bad"), std::nullopt);
  EXPECT_EQ(root.read_number("/n/missing"), std::nullopt);
  EXPECT_EQ(root.read_link("/l/link"), "../n/good");
  EXPECT_EQ(root.read_link("/n/good"), std::nullopt);
  EXPECT_THAT(root.list("/n"), testing::ElementsAre("bad", "good"));
  EXPECT_THAT(root.list("/missing"), testing::IsEmpty());
}

TEST(Sysroot, ARecordingIsNotLive) {
  EXPECT_TRUE(Sysroot().is_live());
  EXPECT_FALSE(Sysroot(::testing::TempDir()).is_live());
  EXPECT_FALSE(Sysroot("/nonexistent").is_live());
}

}  // namespace
}  // namespace gpulse
