// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/process.hpp"

#include <gtest/gtest.h>

#include <map>

#include "sim/testing/sim_machine.hpp"

namespace gpulse::test {
namespace {

constexpr double kMib = 1048576;
constexpr auto kMemory = process_metric("gpu_memory_bytes");
constexpr auto kBusy = process_metric("gpu_utilization_percent");
constexpr auto kJpeg = process_metric("jpeg_utilization_percent");

const std::string kDevice = "[[device]]\nprofile = \"h200\"\n";

std::string process(int pid, int mib, const std::string &more = "") {
  return "[[process]]\npid = " + std::to_string(pid) + "\nmemory_mib = " + std::to_string(mib) + "\n" + more;
}

// Hides all versions of the process lists except the wanted one.
std::string driver_with_only(const std::string &suffix, int row_bytes = 24) {
  std::string missing;
  for (const std::string other : {"", "_v2", "_v3"}) {
    if (other == suffix) continue;
    for (const std::string list : {"Compute", "Graphics", "MPSCompute"}) {
      missing += "\"nvmlDeviceGet" + list + "RunningProcesses" + other + "\",";
    }
  }
  return "[driver]\nprocess_v3_row_bytes = " + std::to_string(row_bytes) + "\nmissing = [" + missing + "]\n";
}

class Processes : public testing::Test {
 protected:
  void TearDown() override {
    source_.reset();
    sim_clear();
  }
  void load(const std::string &toml) {
    source_.reset();
    sim_load(toml);
    sim_time(0);
    source_ = nvml::make_source(empty_root(), SourceOptions{.texts = false, .events = false});
    const auto found = source_->discover();
    ASSERT_EQ(found.problem, "");
    for (std::size_t i = 0; i < found.entities.size(); ++i) source_->identify(i);
    frame_ = {Row(Scope::device), {}};
  }
  Outcome read(std::string_view call, std::chrono::nanoseconds at = 0s) {
    const auto readers = source_->readers();
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (readers[i].call == call) return source_->read(0, i, Monotonic() + 1h + at, frame_);
    }
    ADD_FAILURE() << "no reader " << call;
    return Outcome::unsupported;
  }
  std::map<std::uint32_t, Reading> column(MetricId id) const {
    std::map<std::uint32_t, Reading> all;
    for (const auto &use : frame_.processes) {
      EXPECT_TRUE(all.emplace(use.pid, use.row[id]).second) << use.pid << " is listed twice";
    }
    return all;
  }
  Reading busy(std::uint32_t pid) const { return column(kBusy).at(pid); }

  std::unique_ptr<Source> source_;
  Frame frame_{Row(Scope::device), {}};
};

TEST_F(Processes, EveryRowSizeAndGeneration) {
  struct Form {
    std::string suffix;
    int bytes;
  };
  for (const auto &form : {Form{"", 24}, Form{"_v2", 24}, Form{"_v3", 24}, Form{"_v3", 32}}) {
    for (const int count : {1, 2, 3}) {
      SCOPED_TRACE(form.suffix + " " + std::to_string(form.bytes) + " bytes, " + std::to_string(count) + " rows");
      auto toml = driver_with_only(form.suffix, form.bytes) + kDevice;
      for (int i = 0; i < count; ++i) toml += process(7001 + i, 1000 * (i + 1), "protected_mib = 5\n");
      load(toml);
      EXPECT_EQ(read("GetRunningProcesses"), Outcome::ok);
      std::map<std::uint32_t, Reading> wanted;
      for (int i = 0; i < count; ++i) wanted[static_cast<std::uint32_t>(7001 + i)] = 1000.0 * (i + 1) * kMib;
      EXPECT_EQ(column(kMemory), wanted);
      EXPECT_EQ(frame_.row[device_metric("process_count")], Reading(static_cast<double>(count)));
    }
  }
}

TEST_F(Processes, ListsGrowAsLongAsItTakes) {
  for (const std::string suffix : {"", "_v2", "_v3"}) {
    auto toml = driver_with_only(suffix) + kDevice;
    for (int i = 0; i < 300; ++i) toml += process(1000 + i, 1 + i);
    load(toml);
    read("GetRunningProcesses");
    const auto memory = column(kMemory);
    ASSERT_EQ(memory.size(), 300U) << suffix;
    for (const auto &[pid, bytes] : memory) EXPECT_EQ(bytes, Reading((pid - 999) * kMib));
  }
}

TEST_F(Processes, UseOfManyProcessesIsRead) {
  for (const std::string missing : {"", "nvmlDeviceGetProcessesUtilizationInfo"}) {
    auto toml = "[driver]\nmissing = [" + (missing.empty() ? "" : "\"" + missing + "\"") + "]\n" + kDevice;
    for (int i = 0; i < 300; ++i) toml += process(1000 + i, 1, "sm = " + std::to_string(1 + i % 100) + "\n");
    load(toml);
    read("GetRunningProcesses");
    EXPECT_EQ(read("GetProcessUtilization"), Outcome::ok);
    const auto busy = column(kBusy);
    ASSERT_EQ(busy.size(), 300U);
    for (const auto &[pid, percent] : busy) EXPECT_EQ(percent, Reading(1.0 + (pid - 1000) % 100)) << pid;
    EXPECT_EQ(column(kJpeg).at(1000), missing.empty() ? Reading(0.0) : Reading(Reason::not_supported));
  }
}

TEST_F(Processes, OneInTwoListsIsOneProcess) {
  load(kDevice + process(7001, 1000, "type = [\"compute\", \"graphics\"]\n") + process(7002, 50, "type = \"mps\"\n"));
  read("GetRunningProcesses");
  EXPECT_EQ(column(kMemory), (std::map<std::uint32_t, Reading>{{7001, 1000 * kMib}, {7002, 50 * kMib}}));
  for (const auto &use : frame_.processes) EXPECT_EQ(use.types, use.pid == 7001 ? 3 : 4);
}

TEST_F(Processes, PidZeroIsTheDriversOwn) {
  load(kDevice + process(0, 10) + process(7001, 20));
  read("GetRunningProcesses");
  EXPECT_EQ(column(kMemory), (std::map<std::uint32_t, Reading>{{7001, 20 * kMib}}));
}

TEST_F(Processes, MemoryThatIsNotTold) {
  load(kDevice + "[[process]]\npid = 7001\nmemory_mib = \"not supported\"\n");
  read("GetRunningProcesses");
  EXPECT_EQ(column(kMemory), (std::map<std::uint32_t, Reading>{{7001, Reason::not_supported}}));
}

TEST_F(Processes, OneWithoutARowIsIdle) {
  load(kDevice + process(7001, 10, "sm = 33\n") + process(7002, 10));
  read("GetRunningProcesses");
  EXPECT_EQ(busy(7001), Reading(Reason::not_sampled));
  read("GetProcessUtilization");
  EXPECT_EQ(busy(7001), Reading(33.0));
  EXPECT_EQ(busy(7002), Reading(0.0));
}

TEST_F(Processes, NothingNewMeansIdleAfterASecond) {
  load(kDevice + process(7001, 10, "sm = 33\n"));
  read("GetRunningProcesses");
  read("GetProcessUtilization");
  ASSERT_EQ(busy(7001), Reading(33.0));
  // The scenario's clock stands still: from now on the driver answers 6 (not found).
  read("GetProcessUtilization", 900ms);
  EXPECT_EQ(busy(7001), Reading(33.0));
  read("GetProcessUtilization", 1100ms);
  EXPECT_EQ(busy(7001), Reading(0.0));
}

TEST_F(Processes, TheNewestRowCounts) {
  load(kDevice + process(7001, 10, "sm = { steps = [[0, 33], [1, 66]] }\n"));
  read("GetRunningProcesses");
  read("GetProcessUtilization");
  sim_time(1);
  read("GetProcessUtilization", 500ms);
  EXPECT_EQ(busy(7001), Reading(66.0));
}

TEST_F(Processes, AShareThatCannotBeIsNotZero) {
  load(kDevice + process(7001, 10, "sm = 180\n") + process(7002, 10, "sm = 20\nmemory_util = 4294967295\n") +
       process(7003, 10, "sm = 40\n") + process(7004, 10, "sm = 4294967295\n"));
  read("GetRunningProcesses");
  read("GetProcessUtilization");
  EXPECT_EQ(busy(7001), Reading(Reason::out_of_range));
  EXPECT_EQ(busy(7002), Reading(20.0));
  EXPECT_EQ(column(process_metric("memory_utilization_percent")).at(7002), Reading(Reason::out_of_range));
  EXPECT_EQ(busy(7003), Reading(40.0));
  EXPECT_EQ(busy(7004), Reading(Reason::out_of_range));
}

// A row from the future, or a clock that was set back, must not hide later rows.
TEST_F(Processes, ARowAheadOfTheClockHidesNothing) {
  load(kDevice + process(7001, 10, "sm = { steps = [[0, 33], [50, 44], [1000, 66]] }\n"));
  sim_time(1000);
  read("GetRunningProcesses");
  read("GetProcessUtilization");
  ASSERT_EQ(busy(7001), Reading(66.0));
  sim_time(50);
  read("GetProcessUtilization", 2s);
  EXPECT_EQ(busy(7001), Reading(44.0));
}

TEST_F(Processes, AnInstanceListsItsOwn) {
  load("[[device]]\nprofile = \"h100-mig\"\n" + process(7001, 100, "gi = 1\nci = 0\n") + process(7002, 50));
  read("GetRunningProcesses");
  EXPECT_EQ(column(kMemory), (std::map<std::uint32_t, Reading>{{7002, 50 * kMib}}));
}

}  // namespace
}  // namespace gpulse::test
