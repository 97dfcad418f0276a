// SPDX-License-Identifier: Apache-2.0
#include "serve/shared_asks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <thread>

#include "serve/engine_ask.hpp"
#include "serve/timer.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using Asks = SharedAsks<int>;

TEST(SharedAsks, AskOnceForAllWhoWait) {
  std::latch may_go(1);
  std::atomic<int> asked = 0, told = 0;
  Asks asks;
  const auto work = [&](const std::stop_token &) {
    ++asked;
    may_go.wait();
    return Asks::Told{.value = 42, .kept_for = 1min};
  };
  std::promise<void> all;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(asks.ask("a", work, [&](const int &value) {
      EXPECT_EQ(value, 42);
      if (++told == 3) all.set_value();
    }));
  }
  may_go.count_down();
  all.get_future().wait();
  // It is known now.
  asks.ask("a", work, [&](const int &) { ++told; });
  EXPECT_EQ(told, 4);
  EXPECT_EQ(asked, 1);
}

TEST(SharedAsks, ForgetAnAnswerAfterItsTime) {
  std::atomic<int> asked = 0;
  Asks asks;
  const auto ask = [&] {
    std::promise<int> value;
    asks.ask(
        "a", [&](const std::stop_token &) { return Asks::Told{.value = ++asked}; },
        [&](const int &told) { value.set_value(told); });
    return value.get_future().get();
  };
  EXPECT_EQ(ask(), 1);
  EXPECT_EQ(ask(), 2);
}

TEST(SharedAsks, AskAgainAfterAnAccident) {
  Asks asks;
  std::atomic<int> asked = 0;
  const auto fails_once = [&](const std::stop_token &) -> Asks::Told {
    if (++asked == 1) throw std::runtime_error("no thread");
    return {.value = 42, .kept_for = 1min};
  };
  std::promise<int> told;
  for (int i = 0; i < 200 && asked < 2; ++i) {
    asks.ask("a", fails_once, [&](const int &value) { told.set_value(value); });
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(told.get_future().get(), 42);
}

TEST(SharedAsks, KeepOnlySoManyBytes) {
  using Answers = SharedAsks<http::Response>;
  Answers asks({.kept_bytes = 1500});
  std::atomic<int> asked = 0;
  const auto ask = [&](const std::string &key) {
    std::promise<void> told;
    const auto large = [&](const std::stop_token &) {
      ++asked;
      return Answers::Told{.value = {.body = std::make_shared<const std::string>(1000, 'x')}, .kept_for = 1min};
    };
    asks.ask(key, large, [&](const http::Response &) { told.set_value(); });
    told.get_future().wait();
  };
  ask("a");
  ask("a");
  EXPECT_EQ(asked, 1);
  ask("b");
  ask("b");
  EXPECT_EQ(asked, 2);
  ask("a");
  EXPECT_EQ(asked, 3) << "it was let go of for the other";
}

TEST(EngineAsk, HasOneKeyWhileTheEndMovesOn) {
  const EngineAsk how;
  const auto minute = std::chrono::floor<std::chrono::minutes>(wall_now());
  const auto now = minute + 1s;
  EXPECT_EQ(span_key(now - 10min, now, how), span_key(now - 10min + 5s, now + 5s, how));
  EXPECT_NE(span_key(now - 10min, now, how), span_key(now - 20min, now, how));
  const auto past = minute - 24h;
  EXPECT_NE(span_key(past - 10min, past, how), span_key(past - 10min + 5s, past + 5s, how)) << "that is what was asked";
}

TEST(SharedAsks, TakeNoMoreThanTheyCan) {
  std::latch may_go(1), begun(1);
  Asks asks({.threads = 1, .waiting = 1});
  const auto ready = [](const int &) {};
  EXPECT_TRUE(asks.ask(
      "a",
      [&](const std::stop_token &) {
        begun.count_down();
        may_go.wait();
        return Asks::Told{};
      },
      ready));
  begun.wait();
  const auto nothing = [](const std::stop_token &) { return Asks::Told{}; };
  EXPECT_TRUE(asks.ask("b", nothing, ready));
  EXPECT_FALSE(asks.ask("c", nothing, ready));
  may_go.count_down();
}

TEST(SharedAsks, EndWhileSomethingIsAsked) {
  std::latch begun(1);
  Asks asks;
  asks.ask(
      "a",
      [&](const std::stop_token &stop) {
        begun.count_down();
        while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
        return Asks::Told{};
      },
      [](const int &) {});
  begun.wait();
}

TEST(Timer, CallsInTheOrderOfTime) {
  Timer timer;
  std::promise<std::string> said;
  std::string words;
  const auto now = monotonic_now();
  timer.call_at(now + 30ms, [&] { said.set_value(words + "c"); });
  timer.call_at(now + 10ms, [&] { words += "b"; });
  timer.call_at(now, [&] { words += "a"; });
  EXPECT_EQ(said.get_future().get(), "abc");
}

TEST(Timer, OneAnswerGoesOutInTime) {
  Timer timer;
  std::promise<int> first, late;
  const auto quick = in_time(
      timer, monotonic_now() + 1h, [&](http::Response got) { first.set_value(got.status); },
      [] { return http::Response{.status = 503}; });
  quick({.status = 200});
  quick({.status = 404});
  EXPECT_EQ(first.get_future().get(), 200);
  const auto slow = in_time(
      timer, monotonic_now() + 5ms, [&](http::Response got) { late.set_value(got.status); },
      [] { return http::Response{.status = 503}; });
  EXPECT_EQ(late.get_future().get(), 503);
  slow({.status = 200});
}

}  // namespace
}  // namespace gpulse::serve
