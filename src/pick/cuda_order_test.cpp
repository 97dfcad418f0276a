// SPDX-License-Identifier: Apache-2.0
#include "pick/cuda_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/clock.hpp"
#include "base/temporary_folder.hpp"

namespace gpulse::pick {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class CudaOrderTest : public testing::Test {
 protected:
  // A program that answers in gpulse's place.
  std::string program(const std::string &script) {
    folder_.write("/program", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder_.path("/program"), std::filesystem::perms::owner_all);
    return folder_.path("/program");
  }

  TemporaryFolder folder_;
};

TEST_F(CudaOrderTest, UuidsALineEach) {
  const auto order = ask_cuda_order(program("[ \"$1\" = cuda-order ] && echo GPU-b && echo GPU-a"));
  ASSERT_TRUE(order) << order.error().line();
  EXPECT_THAT(*order, ElementsAre("GPU-b", "GPU-a"));
}

TEST_F(CudaOrderTest, TheMaskIsNotHandedOn) {
  ::setenv("CUDA_VISIBLE_DEVICES", "3", 1);
  const auto order = ask_cuda_order(program("echo GPU-${CUDA_VISIBLE_DEVICES:-all}"));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(*order, ElementsAre("GPU-all"));
}

// And never in the current folder, which may be anybody's.
TEST_F(CudaOrderTest, ANameAloneIsLookedForInThePath) {
  program("echo GPU-a");
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", (folder_.path("") + ":" + before).c_str(), 1);
  const auto found = ask_cuda_order("program");
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_TRUE(found) << found.error().line();
  EXPECT_THAT(*found, ElementsAre("GPU-a"));
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path(""));
  EXPECT_FALSE(ask_cuda_order("program"));
  std::filesystem::current_path(here);
}

TEST_F(CudaOrderTest, WhatGoesWrongIsSaid) {
  EXPECT_THAT(ask_cuda_order(program("echo cuInit says 100; exit 1")).error().line(), HasSubstr("cuInit says 100"));
  EXPECT_FALSE(ask_cuda_order(program("exit 0")));
  EXPECT_FALSE(ask_cuda_order(program("echo GPU-a; exit 1")));
  EXPECT_FALSE(ask_cuda_order("/nonexistent"));
  EXPECT_THAT(ask_cuda_order(program("exec yes")).error().line(), HasSubstr("no end"));
}

TEST_F(CudaOrderTest, WhoDoesNotAnswerIsNotWaitedForLong) {
  const auto begun = monotonic_now();
  EXPECT_THAT(ask_cuda_order(program("exec sleep 30"), 200ms).error().line(), HasSubstr("in time"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(ask_cuda_order(program("exec sleep 30"), 30s, stop.get_token()));
  EXPECT_LT(monotonic_now() - begun, 5s);
}

}  // namespace
}  // namespace gpulse::pick
