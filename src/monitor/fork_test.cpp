// SPDX-License-Identifier: Apache-2.0
#include "monitor/fork_guard.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/testing.hpp"
#include "sim/testing/sim_library.hpp"

namespace gpulse::monitor {
namespace {

using namespace testing;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GPULSE_TSAN 1
#endif
#endif
#if defined(GPULSE_TSAN) || defined(__SANITIZE_THREAD__)
constexpr bool kMayStartThreads = false;  // in a child of a program with threads, under this sanitizer
#else
constexpr bool kMayStartThreads = true;
#endif

// What the child says by its exit code; -1 when it had to be killed.
int in_child(const auto &work) {
  const auto child = ::fork();
  if (child == 0) ::_exit(work());
  const auto until = monotonic_now() + 20s;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (monotonic_now() > until) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(1ms);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, TheChildKnowsThatTheMonitorIsNotItsOwn) {
  FakeMachine machine;
  Monitor monitor({.interval = 10ms}, machine.opener());
  ASSERT_TRUE(monitor.wait(0, monotonic_now() + 10s).sample);
  EXPECT_FALSE(monitor.is_forked());
  EXPECT_EQ(in_child([&] { return monitor.is_forked() ? 0 : 1; }), 0);
  EXPECT_FALSE(monitor.is_forked());
}

TEST(Fork, AChildOfTheChildKnowsTwoThatAreNotItsOwn) {
  if (!kMayStartThreads) GTEST_SKIP();
  FakeMachine machine;
  Monitor monitor({.interval = 10ms}, machine.opener());
  EXPECT_EQ(in_child([&] {
              auto *own = new Monitor({.interval = 10ms}, machine.opener());
              if (own->is_forked() || !own->wait(0, monotonic_now() + 10s).sample) return 1;
              return in_child([&] { return monitor.is_forked() && own->is_forked() ? 0 : 1; });
            }),
            0);
}

TEST(Fork, WhileSamplesAreTakenAHundredTimesASecond) {
  ASSERT_EQ(sim::library().call<int>("gpulse_sim_load", "[[device]]\nprofile = \"h200\"\npower_w = 321\n"), 0);
  const Options options{.interval = 10ms, .metrics = default_metrics(), .agent = false};
  Monitor monitor(options);
  ASSERT_TRUE(monitor.wait(0, monotonic_now() + 10s).sample);
  const auto sample = monitor.latest();
  for (int i = 0; i < 50; ++i) {
    const auto region = monitor.begin_region("step");
    const ForkMark mark;
    const int said = in_child([&] {
      if (!monitor.is_forked() || !mark.is_forked()) return 1;
      if (sample->json().empty()) return 2;  // a sample that is held stays good
      if (!kMayStartThreads || i % 10 != 0) return 0;
      Monitor own(options);
      const auto waited = own.wait(2, monotonic_now() + 10s);
      if (!waited.sample || own.is_forked()) return 3;
      return waited.sample->snapshot->devices.at(0).row[kPower] == Reading(321.0) ? 0 : 4;
    });
    ASSERT_EQ(said, 0) << "in child " << i;
  }
  // The parent goes on.
  const auto last = monitor.latest();
  ASSERT_TRUE(last);
  EXPECT_TRUE(monitor.wait(last->number + 2, monotonic_now() + 10s).sample);
}

TEST(Fork, AFeedThatHangsDoesNotHoldUpAFork) {
  struct Stuck final : feed::Feed {
    bool is_live() const override { return true; }
    Result<SnapshotPtr> once(const std::stop_token &stop) override { return next(stop); }
    Result<SnapshotPtr> again(const std::stop_token &stop) override { return next(stop); }
    Result<SnapshotPtr> next(const std::stop_token &stop) override {
      sleep_until(monotonic_now() + 30s, stop);
      return SnapshotPtr{};
    }
  };
  Monitor monitor({.interval = 10ms}, [](const feed::Options &, const std::stop_token &) {
    return Result<std::unique_ptr<feed::Feed>>(std::make_unique<Stuck>());
  });
  std::this_thread::sleep_for(50ms);
  const auto begun = monotonic_now();
  // Only the first one waits for it, for 200 ms.
  for (int i = 0; i < 30; ++i) ASSERT_EQ(in_child([&] { return monitor.is_forked() ? 0 : 1; }), 0);
  EXPECT_LT(monotonic_now() - begun, 4s);
}

// A program that leaves main() without closing its monitor.
TEST(Exit, EndsTheSamplingFirst) {
  if (!kMayStartThreads) GTEST_SKIP();
  FakeMachine machine;
  const auto child = ::fork();
  if (child == 0) {
    auto *monitor = new Monitor({.interval = 1ms}, machine.opener());
    monitor->wait(0, monotonic_now() + 10s);
    std::exit(17);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 17);
}

}  // namespace
}  // namespace gpulse::monitor
