// SPDX-License-Identifier: Apache-2.0
#include "serve/routes.hpp"

#include <gtest/gtest.h>

#include "serve/health.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;

TEST(Routes, TheLongestThatFitsIsTaken) {
  Routes routes;
  for (const auto *path : {"/", "/api/v1/", "/api/v1/stream", "/metrics"}) routes.add({.path = path, .handle = {}});
  const auto found = [&](const char *path) {
    const auto *route = routes.find(path);
    return route == nullptr ? "none" : route->path;
  };
  EXPECT_EQ(found("/"), "/");
  EXPECT_EQ(found("/metrics"), "/metrics");
  EXPECT_EQ(found("/metrics/x"), "none");
  EXPECT_EQ(found("/metricsx"), "none");
  EXPECT_EQ(found("/api/v1/history"), "/api/v1/");
  EXPECT_EQ(found("/api/v1/stream"), "/api/v1/stream");
  EXPECT_EQ(found("/api/v1"), "none");
  EXPECT_EQ(Routes().find("/"), nullptr);
}

TEST(Routes, TakeTheirMethodsAndNoOthers) {
  const Route reading{.path = "/", .handle = {}};
  const Route login{.path = "/", .handle = {}, .takes_post = true};
  using enum http::Method;
  for (const auto method : {get, head}) EXPECT_FALSE(refuse_method(reading, method));
  EXPECT_FALSE(refuse_method(login, post));
  EXPECT_EQ(refuse_method(reading, post)->status, 405);
  EXPECT_EQ(refuse_method(login, other)->headers.front().second, "GET, HEAD, POST");
}

TEST(Health, IsWhetherSamplesCome) {
  Board board;
  EXPECT_EQ(health_answer(board).status, 503);
  EXPECT_EQ(*health_answer(board).body, "no sample yet\n");
  board.post(std::make_shared<const Snapshot>(), 1s);
  EXPECT_EQ(health_answer(board).status, 200);
  EXPECT_EQ(*health_answer(board).body, "ok\n");
  EXPECT_EQ(health_answer(board, monotonic_now() + 9s).status, 200);
  EXPECT_EQ(health_answer(board, monotonic_now() + 12s).status, 503);
  EXPECT_EQ(*health_answer(board, monotonic_now() + 12s).body, "no sample for 12 s\n");
  board.post(std::make_shared<const Snapshot>(), 60s);
  EXPECT_EQ(health_answer(board, monotonic_now() + 100s).status, 200) << "so rare was asked for";
}

}  // namespace
}  // namespace gpulse::serve
