// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "smi/read_log.hpp"
#include "smi/snapshot_parts.hpp"
#include "smi/testing.hpp"
#include "smi/testing_invariants.hpp"

namespace gpulse::smi {
namespace {

// As a driver of 2018 wrote it, and with lines that nobody knows.
constexpr std::string_view kOld = R"(
==============NVSMI LOG==============

Timestamp                           : Mon Apr  9 12:25:59 2018
Driver Version                      : 390.30

Attached GPUs                       : 1
GPU 00000000:06:00.0
    Product Name                    : Tesla K80
    Riddle                          : 7
    Riddles
        Current                     : 1
            Deeper                  : 2
    MIG Mode
        Current                     : N/A
        Pending                     : N/A
    Clocks Throttle Reasons
        Idle                        : Not Active
        HW Slowdown                 : Active
            HW Thermal Slowdown     : Active
        SW Power Cap                : Not Active
    Temperature                     : N/A
    Power Readings
        Power Draw                  : 60.25 W
    Processes
        Process ID                  : 41
            Type                    : C
            Name                    : /opt/a: b/c d
            Used GPU Memory         : 12 MiB
        Process ID                  : 42
            Type                    : G
            Name                    :
            Used GPU Memory         : N/A
)";

TEST(SmiText, AnOlderDriver) {
  const auto log = read_log(kOld, "log");
  ASSERT_TRUE(log) << log.error().line();
  ASSERT_EQ(log->size(), 1U);
  const auto &snapshot = *log->front();
  ASSERT_EQ(snapshot.devices.size(), 1U);
  const auto &device = snapshot.devices[0];
  EXPECT_EQ(device.identity->name, "Tesla K80");
  EXPECT_EQ(device.identity->pci, "0000:06:00.0");
  EXPECT_EQ(device.identity->driver, "390.30");
  EXPECT_EQ(number(device, "power_draw_watts"), Reading(60.25));
  EXPECT_EQ(number(device, "throttle_reasons"), Reading(static_cast<double>(8 | 64)));  // hw slowdown, hw thermal
  EXPECT_EQ(number(device, "temperature_gpu_celsius"), Reading(Reason::not_supported));
  EXPECT_EQ(device.details->logged->schema, 10);
  ASSERT_EQ(snapshot.processes.size(), 2U);
  EXPECT_EQ((*snapshot.processes[0].texts)[process_metric("name")], TextReading("c d"));
  EXPECT_EQ((*snapshot.processes[1].texts)[process_metric("name")], TextReading(""));
}

TEST(SmiText, AListOfComputeProcesses) {
  const auto log = read_log(
      "==============NVSMI LOG==============\nDriver Version : 340.29\nGPU 0000:01:00.0\n"
      "    Compute Processes\n        Process ID : 7\n            Name : ./a\n            Used GPU Memory : 1 MiB\n",
      "log");
  ASSERT_TRUE(log) << log.error().line();
  ASSERT_EQ(log->front()->processes.size(), 1U);
  EXPECT_EQ(type_word(log->front()->processes[0].types), "compute");
}

TEST(SmiText, BrokenTextIsReadOrRefused) {
  std::mt19937 random(1);  // the same every time
  for (int turn = 0; turn < 500; ++turn) {
    std::string broken(kOld);
    for (int left = turn % 20; left > 0; --left) broken[random() % broken.size()] = static_cast<char>(random());
    broken.resize(random() % (broken.size() + 1));
    must_be_sound(read_text_log(broken, "log"));
  }
}

}  // namespace
}  // namespace gpulse::smi
