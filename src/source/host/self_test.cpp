// SPDX-License-Identifier: Apache-2.0
#include "source/host/self.hpp"

#include <gtest/gtest.h>

namespace gpulse::host {
namespace {

using namespace std::chrono_literals;

TEST(ReadSelf, UseBetweenTwoCalls) {
  Row self(Scope::self);
  SelfUse use;
  const auto start = monotonic_now();
  read_self(self, use, start);
  EXPECT_TRUE(self[self_metric("cpu_percent")].is(Reason::not_sampled));
  EXPECT_GT(self[self_metric("memory_bytes")].value_or(0), 1e5);
  EXPECT_TRUE(self[self_metric("sample_seconds")].is(Reason::not_sampled)) << "another's to fill";

  // 100 ms passed off as a second: the result is at most 10 % of what one thread can use.
  const auto cpu_before = use.cpu;
  while (monotonic_now() - start < 100ms) continue;
  read_self(self, use, start + 1s);
  const auto used = self[self_metric("cpu_percent")];
  ASSERT_TRUE(used.has_value());
  EXPECT_DOUBLE_EQ(used.value(), 100 * Seconds(use.cpu - cpu_before).count());
  EXPECT_GT(used.value(), 0);

  read_self(self, use, start + 1s + 5ms);
  EXPECT_EQ(self[self_metric("cpu_percent")], used);
}

}  // namespace
}  // namespace gpulse::host
