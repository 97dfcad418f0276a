// SPDX-License-Identifier: Apache-2.0
#include "record/own_csv.hpp"

#include <gtest/gtest.h>

namespace gpulse::record {
namespace {

TEST(OwnCsv, IsKnownByItsTitles) {
  EXPECT_TRUE(is_own_csv("time,index,uuid,name,gpu_utilization_percent\n"));
  EXPECT_TRUE(is_own_csv("gpu_utilization_percent\n5\n"));
  EXPECT_TRUE(is_own_csv("time,host.cpu_percent,gpu_utilization_percent\n"));
  EXPECT_FALSE(is_own_csv("index, name, utilization.gpu [%]\n"));
  EXPECT_FALSE(is_own_csv("index,name\n"));  // nvidia-smi's titles too
  EXPECT_FALSE(is_own_csv("name,age\nAnn,7\n"));
  EXPECT_FALSE(is_own_csv(""));
}

TEST(OwnCsv, MomentsDevicesAndWords) {
  const auto table = read_own_csv(
      "time,index,hostname,state,gpu_utilization_percent,throttle_reasons,performance_state,host.cpu_percent,riddle\n"
      "2026-11-15T02:00:15.100Z,0,node7,ok,5,power cap|hw slowdown,P2,12.5,x\n"
      "2026-11-15T02:00:15.100Z,1,node7,asleep,,none,,12.5,\n"
      "2026-11-15T02:00:16.100Z,0,node7,ok,6,,P0,,\n",
      "table", "REPLAY");
  ASSERT_TRUE(table) << table.error().line();
  ASSERT_EQ(table->size(), 2U);
  const auto &first = *table->front();
  EXPECT_EQ(first.hostname, "node7");
  EXPECT_EQ(first.origin, "REPLAY");
  EXPECT_EQ(first.host[host_metric("cpu_percent")], Reading(12.5));
  ASSERT_EQ(first.devices.size(), 2U);
  EXPECT_EQ(first.devices[0].row[device_metric("throttle_reasons")], Reading(4.0 + 8.0));
  EXPECT_EQ(first.devices[0].row[device_metric("performance_state")], Reading(2.0));
  EXPECT_EQ(first.devices[1].state, DeviceState::asleep);
  EXPECT_EQ(first.devices[1].row[device_metric("throttle_reasons")], Reading(0.0));
  EXPECT_EQ(first.devices[1].row[device_metric("gpu_utilization_percent")], Reading(Reason::not_supported));
  EXPECT_EQ((*table)[1]->time - first.time, std::chrono::seconds(1));
}

TEST(OwnCsv, RefusedInOneLine) {
  const auto refusal = [](std::string_view text) {
    const auto table = read_own_csv(text, "table", "");
    return table ? std::string() : std::string(table.error().what);
  };
  EXPECT_EQ(refusal("index,gpu_utilization_percent\n0\n"), "table: line 2: 1 cells under 2 titles");
  EXPECT_EQ(refusal("index,gpu_utilization_percent\n0,\"5\n"), "table: line 2: a quote is not closed");
  EXPECT_EQ(refusal("index,gpu_utilization_percent\n0,a lot\n"),
            "table: line 2: gpu_utilization_percent cannot be \"a lot\"");
}

}  // namespace
}  // namespace gpulse::record
