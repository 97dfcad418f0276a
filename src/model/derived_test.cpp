// SPDX-License-Identifier: Apache-2.0
#include "model/derived.hpp"

#include <gtest/gtest.h>

namespace gpulse {
namespace {

constexpr auto kPercent = device_metric("memory_used_percent");
constexpr auto kUsed = device_metric("memory_used_bytes");
constexpr auto kTotal = device_metric("memory_total_bytes");

TEST(Derived, TheShareOfMemoryInUseIsOfAllThatIsFitted) {
  Row row(Scope::device, Reason::not_supported);
  row[kUsed] = 20.0 * (1 << 30);
  row[kTotal] = 80.0 * (1 << 30);
  derive(row);
  EXPECT_EQ(row[kPercent], Reading(25.0));

  Row host(Scope::host, Reason::not_sampled);
  host[host_metric("memory_used_bytes")] = 3.0;
  host[host_metric("memory_total_bytes")] = 8.0;
  derive(host);
  EXPECT_EQ(host[host_metric("memory_used_percent")], Reading(37.5));
}

TEST(Derived, WhatCannotBeToldHasTheReasonOfWhatItFollowsFrom) {
  Row row(Scope::device, Reason::not_supported);
  row[kUsed] = Reason::no_permission;
  row[kTotal] = 80.0;
  derive(row);
  EXPECT_EQ(row[kPercent], Reading(Reason::no_permission));
  row[kUsed] = 20.0;
  row[kTotal] = Reading(Reason::error, 999);
  derive(row);
  EXPECT_EQ(row[kPercent], Reading(Reason::error, 999));
  row[kTotal] = 0.0;
  derive(row);
  EXPECT_EQ(row[kPercent], Reading(Reason::out_of_range));
  row[kTotal] = 10.0;
  derive(row);
  EXPECT_EQ(row[kPercent], Reading(Reason::out_of_range)) << "200 %";
}

TEST(Derived, WhoAsksForTheShareReadsBothAndWhoDoesNotPaysNothing) {
  const auto needs = with_inputs({kPercent});
  EXPECT_TRUE(needs.contains(kUsed) && needs.contains(kTotal) && needs.contains(kPercent));
  EXPECT_FALSE(with_inputs({kUsed}).contains(kTotal));
  Row row(Scope::device, Reason::not_supported);
  row[kUsed] = row[kTotal] = 1.0;
  const MetricSet only{kUsed};
  derive(row, &only);
  EXPECT_EQ(row[kPercent], Reading(Reason::not_supported));
}

}  // namespace
}  // namespace gpulse
