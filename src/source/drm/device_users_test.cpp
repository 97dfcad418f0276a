// SPDX-License-Identifier: Apache-2.0
#include "source/drm/device_users.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <thread>

#include "source/drm/fake_clients.hpp"

namespace gpulse::drm {

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::array<Node, 2> kCard0{Node{kDrmMajor, 0}, Node{kDrmMajor, 128}};
constexpr std::string_view kRenderNode = "/dev/dri/renderD128";

class OpenersTest : public testing::Test {
 protected:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> at(std::chrono::nanoseconds time,
                                                          std::span<const Node> nodes = kCard0) {
    users_.collect(nodes, start_ + time, found_);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const auto &open_node : found_) pairs.emplace_back(open_node.pid, open_node.fd);
    return pairs;
  }

  FakeClients machine_;
  DeviceUsers users_{machine_.root()};
  std::vector<OpenNode> found_;
  Monotonic start_{1h};
};

TEST_F(OpenersTest, FindsTheNodesOfOneCard) {
  machine_.start(30, 700);
  machine_.open(30, 9, "/dev/dri/card0", "");
  machine_.open(30, 10, kRenderNode, "");
  machine_.open(30, 11, "/dev/dri/renderD129", "");
  machine_.open(30, 12, "/dev/null", "");
  machine_.open(30, 13, "/elsewhere/dev/dri/renderD128", "");
  machine_.open(30, 14, "/dev/dri/renderD128 (deleted)", "");
  machine_.open(30, 15, "/dev/accel/accel0", "");
  machine_.start(4, 100);
  machine_.open(4, 3, kRenderNode, "");
  machine_.folder().write("/proc/meminfo", "");
  EXPECT_THAT(at(0s), ElementsAre(Pair(4, 3), Pair(30, 9), Pair(30, 10)));
  EXPECT_EQ(found_[0].start_ticks, 100U);
  EXPECT_EQ(found_[1].start_ticks, 700U);
  EXPECT_EQ(found_[1].node, (Node{kDrmMajor, 0}));
  constexpr std::array<Node, 1> kAccelerator{Node{kAccelMajor, 0}};
  EXPECT_THAT(at(0s, kAccelerator), ElementsAre(Pair(30, 15)));
}

TEST_F(OpenersTest, LooksIntoANewProcessAtOnceAndASecondAndThreeLater) {
  machine_.start(1, 1);
  at(0s);
  machine_.start(50, 1);
  EXPECT_THAT(at(1s), IsEmpty());
  machine_.open(50, 3, kRenderNode, "");
  EXPECT_THAT(at(1500ms), IsEmpty());
  EXPECT_THAT(at(2s), ElementsAre(Pair(50, 3)));

  machine_.start(51, 1);
  at(3s);
  at(4s);
  machine_.open(51, 3, kRenderNode, "");
  EXPECT_THAT(at(5s), ElementsAre(Pair(50, 3)));
  EXPECT_THAT(at(6s), ElementsAre(Pair(50, 3), Pair(51, 3)));
}

TEST_F(OpenersTest, AnOldProcessIsSeenByTheSlowLook) {
  machine_.start(50, 1);
  at(0s);
  machine_.open(50, 3, kRenderNode, "");
  for (auto time = 1s; time < 10s; ++time) EXPECT_THAT(at(time), IsEmpty());
  users_.scan_all(start_ + 10s);
  EXPECT_THAT(at(10s), ElementsAre(Pair(50, 3)));
}

TEST_F(OpenersTest, ANewLookIsToldFromTheLast) {
  machine_.start(50, 1);
  machine_.open(50, 3, kRenderNode, "");
  at(0s);
  const auto first = found_[0].scan;
  machine_.open(50, 4, kRenderNode, "");
  EXPECT_THAT(at(5s), ElementsAre(Pair(50, 3)));
  EXPECT_EQ(found_[0].scan, first);
  users_.scan_all(start_ + 10s);
  EXPECT_THAT(at(10s), ElementsAre(Pair(50, 3), Pair(50, 4)));
  EXPECT_NE(found_[0].scan, first);
}

TEST_F(OpenersTest, ADoubtedProcessIsLookedIntoAtTheNextTick) {
  machine_.start(50, 1);
  machine_.open(50, 3, kRenderNode, "");
  at(0s);
  machine_.close(50, 3);
  users_.rescan(50);
  users_.rescan(51);
  EXPECT_THAT(at(1s), IsEmpty());
}

TEST_F(OpenersTest, ForgetsWhatEnded) {
  machine_.start(50, 1);
  machine_.open(50, 3, kRenderNode, "");
  at(0s);
  machine_.end(50);
  EXPECT_THAT(at(1s), IsEmpty());
  machine_.start(50, 99);
  machine_.open(50, 5, kRenderNode, "");
  EXPECT_THAT(at(2s), ElementsAre(Pair(50, 5)));
  EXPECT_EQ(found_[0].start_ticks, 99U);
}

TEST_F(OpenersTest, AMachineWithoutProcessesHasNone) {
  EXPECT_THAT(at(0s), IsEmpty());
  machine_.start(50, 1);
  machine_.open(50, 3, kRenderNode, "");
  EXPECT_THAT(at(1s), ElementsAre(Pair(50, 3)));
}

TEST_F(OpenersTest, CountsWhatItMayNotLookInto) {
  machine_.start(50, 1);
  machine_.start(51, 1);
  machine_.open(51, 3, kRenderNode, "");
  std::filesystem::permissions(machine_.folder().path("/proc/51/fd"), std::filesystem::perms::none);
  std::filesystem::permissions(machine_.folder().path(), std::filesystem::perms::all);
  // Root may scan everything, so somebody else has to try.
  const auto child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
    const bool right = at(0s).empty() && users_.denied_count() == 1;
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::filesystem::permissions(machine_.folder().path("/proc/51/fd"), std::filesystem::perms::owner_all);
}

TEST_F(OpenersTest, ServesManyThreads) {
  for (std::uint32_t pid = 1; pid <= 50; ++pid) {
    machine_.start(pid, pid);
    machine_.open(pid, 3, kRenderNode, "");
  }
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      std::vector<OpenNode> found;
      for (int round = 0; round < 50; ++round) {
        const auto now = start_ + std::chrono::seconds(round);
        users_.collect(kCard0, now, found);
        EXPECT_EQ(found.size(), 50U);
        if (i == 0) users_.scan_all(now);
        users_.rescan(static_cast<std::uint32_t>(round));
        EXPECT_EQ(users_.denied_count(), 0U);
      }
    });
  }
}

// On a live machine files are recognised by device number, not by name.
TEST(OpenersOnTheMachine, SeesNoNodeWhereThereIsNone) {
  DeviceUsers device_users{Sysroot()};
  std::vector<OpenNode> found;
  constexpr std::array<Node, 1> kNobodys{Node{kDrmMajor, 0xFFFFF}};
  device_users.collect(kNobodys, monotonic_now(), found);
  EXPECT_THAT(found, IsEmpty());
}

}  // namespace

}  // namespace gpulse::drm
