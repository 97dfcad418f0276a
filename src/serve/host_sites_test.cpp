// SPDX-License-Identifier: Apache-2.0
#include "serve/host_sites.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "serve/testing.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;

class HostsThatAreLookedAt : public ::testing::Test {
 protected:
  WatchedHostOptions host(const std::string &name) const {
    return {.engine = engine_.options(), .host = {.instance = name + ":9837", .name = name}};
  }

  testing::FakeEngine engine_;
  Timer timer_;
  SharedAsks<http::Response> asks_;
};

TEST_F(HostsThatAreLookedAt, AreLetGoOfWhenNobodyDoes) {
  HostSites sites(asks_, timer_, {.kept_for = 30ms, .looks_every = 10ms});
  EXPECT_EQ(sites.find("a"), nullptr);
  const auto opened = sites.open("a", host("a"));
  EXPECT_EQ(sites.find("a"), opened);
  for (int i = 0; i < 200 && sites.find("a") != nullptr; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(sites.find("a"), nullptr);
}

TEST_F(HostsThatAreLookedAt, AreSoManyAtATime) {
  HostSites sites(asks_, timer_, {.hosts = 2, .spared_for = 50ms});
  EXPECT_NE(sites.open("a", host("a")), nullptr);
  EXPECT_NE(sites.open("b", host("b")), nullptr);
  EXPECT_EQ(sites.open("c", host("c")), nullptr) << "somebody has just come to each";
  std::this_thread::sleep_for(60ms);
  EXPECT_NE(sites.open("c", host("c")), nullptr);
  EXPECT_EQ(sites.find("a"), nullptr) << "it was looked at longest ago";
}

// The timer of all others goes on while a fleet's site ends.
TEST_F(HostsThatAreLookedAt, EndBeforeTheTimerDoes) {
  for (int i = 0; i < 20; ++i) {
    auto sites = std::make_unique<HostSites>(asks_, timer_, HostSitesLimits{.looks_every = 1ms});
    sites->open("a", host("a"));
    std::this_thread::sleep_for(1ms);
  }
  std::this_thread::sleep_for(10ms);
}

}  // namespace
}  // namespace gpulse::serve
