// SPDX-License-Identifier: Apache-2.0
#include "share/place.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <map>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"

namespace gpulse::share {
namespace {

using ::testing::HasSubstr;

// What a process with these variables and no others of ours says; "-" stands for nothing.
template <class Ask>
std::string with(const std::map<std::string, std::string> &environment, Ask ask) {
  return in_child([&] {
    for (const auto *name : {"GPULSE_AGENT", "XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY"}) ::unsetenv(name);
    for (const auto &[name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    return ask();
  });
}

std::string words(const Place &place) {
  constexpr std::array kWords{"system", "own", "named"};
  return std::string(kWords[static_cast<std::size_t>(place.trust)]) + " " + place.folder;
}
std::string look() {
  std::string all;
  for (const auto &place : places_to_look()) all += (all.empty() ? "" : ", ") + words(place);
  return all + (is_off() ? "off" : "");
}
std::string serve() { return words(place_to_serve()); }
std::string as_user(std::string (*ask)()) {
  if (::setresuid(4321, 4321, 4321) != 0) return "skipped";
  return ask();
}

TEST(Place, TheSystemsAgentComesBeforeOnesOwn) {
  EXPECT_EQ(with({{"XDG_RUNTIME_DIR", "/run/user/7"}}, look), "system /run/gpulse, own /run/user/7/gpulse");
}

TEST(Place, TheEnvironmentNamesOneOrNone) {
  EXPECT_EQ(with({{"GPULSE_AGENT", "/srv/agent"}, {"XDG_RUNTIME_DIR", "/run/user/7"}}, look), "named /srv/agent");
  EXPECT_EQ(with({{"GPULSE_AGENT", "/srv/agent"}}, serve), "named /srv/agent");
  EXPECT_EQ(with({{"GPULSE_AGENT", "off"}}, look), "off");
  // Whoever starts an agent all the same gets the usual place.
  EXPECT_EQ(with({{"GPULSE_AGENT", "off"}, {"RUNTIME_DIRECTORY", "/run/gpulse"}}, serve), "system /run/gpulse");
  EXPECT_THAT(with({{"GPULSE_AGENT", ""}}, look), HasSubstr("system /run/gpulse, own "));
}

TEST(Place, AUserServesInTheirOwn) {
  const auto as = [](auto ask) { return [ask] { return as_user(ask); }; };
  const auto usual = with({}, as(serve));
  if (usual == "skipped") GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(usual, "own /tmp/gpulse-4321");  // there is no /run/user/4321
  EXPECT_EQ(with({{"XDG_RUNTIME_DIR", "/run/user/7"}}, as(serve)), "own /run/user/7/gpulse");
  EXPECT_EQ(with({{"XDG_RUNTIME_DIR", "relative"}}, as(serve)), "own /tmp/gpulse-4321");
  EXPECT_EQ(with({{"RUNTIME_DIRECTORY", "/run/gpulse"}}, as(serve)), "system /run/gpulse");
  EXPECT_EQ(with({{"RUNTIME_DIRECTORY", "/run/other"}}, as(serve)), "own /tmp/gpulse-4321");
  EXPECT_EQ(with({}, serve), "system /run/gpulse");  // root
}

TEST(Place, AFolderIsMadeForItsOwnerOrForAll) {
  const TemporaryFolder folder;
  const auto mode = [&](const Place &place) {
    const auto mask = ::umask(077);
    EXPECT_TRUE(prepare_folder(place));
    EXPECT_TRUE(prepare_folder(place));  // it is there already
    ::umask(mask);
    struct stat status{};
    EXPECT_EQ(::stat(place.folder.c_str(), &status), 0);
    return status.st_mode & 07777U;
  };
  EXPECT_EQ(mode({folder.path("/own"), Trust::own}), 0700U);
  EXPECT_EQ(mode({folder.path("/named"), Trust::named}), 0755U);
  EXPECT_EQ(mode({folder.path("/system"), Trust::system}), 0755U);
  const auto failed = prepare_folder({folder.path("/not/there"), Trust::named});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().line(), HasSubstr("/not/there: No such file or directory: name another one with"));
}

TEST(Place, AFolderOfOthersIsNotUsed) {
  const TemporaryFolder folder;
  const auto why = [](const Result<void> &result) { return result ? "" : result.error().line(); };
  const Place open{folder.path("/open"), Trust::named};
  folder.make_folder("/open");
  for (const auto mode : {0775U, 0757U, 01777U}) {
    ::chmod(open.folder.c_str(), mode);
    EXPECT_EQ(why(check_folder(open)), open.folder + " can be written by others: take that right away with chmod go-w");
    EXPECT_NE(why(prepare_folder(open)), "");
  }
  ::chmod(open.folder.c_str(), 0755);
  EXPECT_EQ(why(check_folder(open)), "");

  folder.write("/file", "");
  EXPECT_EQ(why(check_folder({folder.path("/file"), Trust::named})), folder.path("/file") + " is not a folder");
  folder.link("/link", folder.path("/open"));
  EXPECT_EQ(why(check_folder({folder.path("/link"), Trust::named})), folder.path("/link") + " is not a folder");

  if (::chown(open.folder.c_str(), 4321, 4321) != 0) GTEST_SKIP() << "only root can give a folder away";
  EXPECT_EQ(why(check_folder({open.folder, Trust::own})), open.folder + " is not ours: it belongs to user 4321");
  EXPECT_EQ(why(check_folder(open)), "");  // the user has said so
  EXPECT_EQ(why(prepare_folder(open)), open.folder + " is not ours: it belongs to user 4321");
}

TEST(PlaceLock, TheSecondIsToldWhoHasIt) {
  const TemporaryFolder folder;
  const Place place{folder.path(), Trust::named};
  {
    const auto first = PlaceLock::take(place);
    ASSERT_TRUE(first);
    const auto second = PlaceLock::take(place);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().line(), "an agent runs already in " + folder.path() + ", pid " +
                                         std::to_string(::getpid()) + ": see gpulse agent status");
    const auto in_other = in_child([&] {
      const auto third = PlaceLock::take(place);
      return third ? "taken" : third.error().line();
    });
    EXPECT_EQ(in_other, second.error().line());
  }
  EXPECT_TRUE(PlaceLock::take(place));
}

TEST(PlaceLock, OneThatWasKilledHoldsNothing) {
  const TemporaryFolder folder;
  const Place place{folder.path(), Trust::named};
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  Child child(::fork());
  if (child.id() == 0) {
    const auto lock = PlaceLock::take(place);
    if (lock) ::close(to.get());
    for (;;) ::pause();
  }
  to.reset();
  char nothing = 0;
  ASSERT_EQ(::read(from.get(), &nothing, 1), 0);
  const auto held = PlaceLock::take(place);
  ASSERT_FALSE(held);
  EXPECT_THAT(held.error().line(), HasSubstr("pid " + std::to_string(child.id())));
  ::kill(child.id(), SIGKILL);
  child.wait();
  EXPECT_TRUE(PlaceLock::take(place));
}

TEST(PlaceLock, SaysWhyItCannotBeTaken) {
  const TemporaryFolder folder;
  const auto missing = PlaceLock::take({folder.path("/gone"), Trust::named});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().line(), "cannot open " + folder.path("/gone/lock") + ": No such file or directory");
  folder.write("/elsewhere", "precious");
  folder.link("/lock", folder.path("/elsewhere"));
  EXPECT_FALSE(PlaceLock::take({folder.path(), Trust::named}));
  EXPECT_EQ(folder.root().read("/elsewhere"), "precious");
}

}  // namespace
}  // namespace gpulse::share
