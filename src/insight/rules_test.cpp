// SPDX-License-Identifier: Apache-2.0
// Each rule on numbers made by hand: it applies, it does not, and it knows too little to say so.
#include "insight/rules/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "insight/diagnose.hpp"

namespace gpulse::insight {
namespace {

using testing::HasSubstr;

constexpr Thresholds kLimits;
constexpr double kGiga = 1e9;

JobSignals trainer(double cpu_percent = 100) {
  JobSignals job;
  job.pid = 560;
  job.name = "python3";
  job.command = "python3 train.py";
  job.compute = true;
  job.age_seconds = 600;
  job.cpu_percent = cpu_percent;
  for (int second = 0; second <= 30; ++second) job.memory.add(second, 20 * kGiga);
  return job;
}

// A GPU that computes as it should.
DeviceSignals at_work() {
  DeviceSignals signals;
  signals.seconds = 30;
  signals.samples = 31;
  signals.utilization = 99;
  signals.active = 98;
  signals.sm = 90;
  signals.tensor = 40;
  signals.tensor_fp64 = 0;
  signals.fp64 = 0;
  signals.fp32 = 3;
  signals.fp16 = 0;
  signals.integer = 10;
  signals.dram = 40;
  signals.controller = 50;
  signals.power_watts = 600;
  signals.power_share = 0.86;
  signals.power_spread_share = 0.1;
  signals.clock_share = 1;
  signals.receive_bytes_per_second = 30e6;
  signals.send_bytes_per_second = 8e6;
  signals.link_bytes_per_second = 63 * kGiga;
  signals.link_generation = signals.link_generation_max = 5;
  signals.link_width = signals.link_width_max = 16;
  signals.capped_share = signals.thermal_share = signals.hardware_share = 0;
  signals.memory_total_bytes = 80 * kGiga;
  for (int second = 0; second <= 30; ++second) {
    signals.memory.add(second, 60 * kGiga);
    signals.activity.add(second, 90);
  }
  signals.jobs = {trainer()};
  signals.host.cores = 16;
  signals.host.cpu_percent = 12.5;
  signals.host.memory_total_bytes = 128 * kGiga;
  signals.host.memory_bytes = 20 * kGiga;
  return signals;
}

// It waits for most of the time; when it works, it works.
DeviceSignals starved(double busy_percent) {
  auto signals = at_work();
  signals.utilization = signals.active = busy_percent;
  signals.sm = busy_percent * 0.9;
  signals.tensor = busy_percent * 0.4;
  signals.dram = busy_percent * 0.4;
  signals.activity = {};
  for (int second = 0; second <= 30; ++second) signals.activity.add(second, *signals.sm);
  return signals;
}

FindingId state_of(const DeviceSignals &signals) {
  for (const auto &rule : state_rules()) {
    if (const auto finding = rule.judge(signals, kLimits)) return finding->id;
  }
  return FindingId::unknown;
}

double fact(const Finding &finding, std::string_view name) {
  for (const auto &known : finding.evidence) {
    if (known.name == name) return known.value;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(Rules, AGpuThatComputesIsHealthyAndNothingElse) {
  const auto signals = at_work();
  EXPECT_EQ(state_of(signals), FindingId::healthy);
  for (const auto &rule : side_rules()) EXPECT_FALSE(rule.judge(signals, kLimits)) << static_cast<int>(rule.id);
}

TEST(Rules, NothingKnownIsNoProblem) {
  DeviceSignals signals;
  signals.knows_processes = false;
  signals.memory.add(0, 40 * kGiga);
  EXPECT_EQ(state_of(signals), FindingId::unknown);
  for (const auto &rule : side_rules()) EXPECT_FALSE(rule.judge(signals, kLimits));
}

TEST(Rules, LoadersAtTheirLimitStarveTheGpu) {
  auto signals = starved(35);
  signals.jobs[0].cpu_percent = 210;
  signals.jobs[0].processes = 3;
  signals.jobs[0].busy_processes = 2;
  const auto finding = rules::input_cpu(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->weight, Weight::problem);
  EXPECT_NEAR(*finding->lost_share, 0.65, 1e-9);
  EXPECT_NEAR(*best_speedup(*finding), 2.86, 0.01);
  EXPECT_THAT(finding->text, HasSubstr("2 of the job's 3 processes use a whole core each, 14 of 16 cores are idle"));
  EXPECT_FALSE(finding->advice.empty());
  EXPECT_EQ(state_of(signals), FindingId::input_cpu);
}

// As measured on an H200: a ResNet with a batch of two, GPT-2 that writes one text, pictures that the training process
// itself prepares. All of them keep one core busy, and only what comes in tells the last from the others.
TEST(Rules, ACoreThatLaunchesIsNotOneThatLoads) {
  const auto measured = [](double active, double sm, double receive) {
    auto signals = starved(active);
    signals.sm = sm;
    signals.receive_bytes_per_second = receive;
    return state_of(signals);
  };
  EXPECT_EQ(measured(23.1, 6.9, 86.2e6), FindingId::launch_bound);
  EXPECT_EQ(measured(1.9, 0.13, 12.1e6), FindingId::launch_bound);
  EXPECT_EQ(measured(1.1, 1.0, 106.5e6), FindingId::input_cpu);
  EXPECT_EQ(measured(2, 0.4, 200e6), FindingId::input_cpu) << "small kernels, and data for each of them";
}

// Two loaders that read at random, as measured on an H200.
TEST(Rules, ProcessesThatWaitForADiskDoNotAddUpToAFullCore) {
  auto signals = starved(3);
  signals.jobs[0].cpu_percent = 105;
  signals.jobs[0].processes = 3;
  signals.jobs[0].busy_processes = 0;
  signals.jobs[0].disk_wait_percent = 90;
  signals.jobs[0].read_bytes_per_second = 200e6;
  signals.receive_bytes_per_second = 218e6;
  EXPECT_EQ(state_of(signals), FindingId::input_io);
  signals.jobs[0].busy_processes = 2;
  EXPECT_EQ(state_of(signals), FindingId::input_cpu);
}

// A GiB there and back in each step, as measured on an H200: neither the link nor the copy engine is at its limit.
TEST(Rules, CopiesThatAreNotPinnedKeepACoreBusy) {
  auto signals = starved(17.7);
  signals.utilization = 48;
  signals.receive_bytes_per_second = 4.7 * kGiga;
  signals.send_bytes_per_second = 5.1 * kGiga;
  const auto finding = rules::copy_bound(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(*finding->lost_share, 9.8 / 12, 1e-9);
  EXPECT_EQ(state_of(signals), FindingId::copy_bound);
  signals.jobs[0].cpu_percent = 30;
  EXPECT_FALSE(rules::copy_bound(signals, kLimits)) << "nobody copies for most of the time";
}

TEST(Rules, LoadersThatNobodyHasCountedShowInTheHost) {
  auto signals = starved(35);
  signals.jobs[0].cpu_percent = 40;
  signals.host.cpu_percent = 100 * 2.4 / 16;  // two more cores than the process itself
  const auto finding = rules::input_cpu(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->text, HasSubstr("other processes keep 2.0 of 16 cores busy"));
  // It is known that those are not the job's.
  signals.jobs[0].processes = 1;
  signals.jobs[0].busy_processes = 0;
  EXPECT_FALSE(rules::input_cpu(signals, kLimits));
}

TEST(Rules, AJobThatIsNotLetComputeStarvesTheGpuToo) {
  auto signals = starved(35);
  signals.jobs[0].cpu_percent = 80;
  signals.jobs[0].processes = 3;
  signals.jobs[0].busy_processes = 0;
  signals.host.cores = 2;
  signals.host.cpu_percent = 100;
  ASSERT_TRUE(rules::input_cpu(signals, kLimits));
  EXPECT_THAT(rules::input_cpu(signals, kLimits)->text,
              HasSubstr("the job uses 80 % of a core, 0 of 2 cores are idle, and it has to wait for one"));
  // A container that may use less than the machine has.
  signals.host.cpu_percent = 10;
  EXPECT_FALSE(rules::input_cpu(signals, kLimits));
  signals.jobs[0].pressure_cpu_percent = 60;
  EXPECT_TRUE(rules::input_cpu(signals, kLimits));
}

TEST(Rules, AKernelThatWaitsForOtherGpusSpins) {
  auto signals = at_work();
  signals.sm = 15;
  signals.tensor = signals.fp32 = signals.dram = 0;
  signals.receive_bytes_per_second = 1e6;
  EXPECT_EQ(state_of(signals), FindingId::spinning);
  signals.dram = 20;
  EXPECT_EQ(state_of(signals), FindingId::launch_bound);
}

TEST(Rules, VideoIsWork) {
  auto signals = at_work();
  signals.utilization = signals.active = signals.sm = 0.2;
  signals.jobs[0].cpu_percent = 2;
  EXPECT_EQ(state_of(signals), FindingId::hung);
  signals.video = 70;
  EXPECT_EQ(state_of(signals), FindingId::healthy);
}

TEST(Rules, ALittleWaitingIsANote) {
  auto signals = starved(70);
  signals.jobs[0].cpu_percent = 100;
  const auto finding = rules::input_cpu(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->weight, Weight::note);
  EXPECT_FALSE(rules::input_cpu(starved(90), kLimits));
}

TEST(Rules, AJobThatWaitsAndReadsIsStarvedByStorage) {
  auto signals = starved(10);
  signals.jobs[0].cpu_percent = 30;
  signals.jobs[0].read_bytes_per_second = 200e6;
  EXPECT_EQ(state_of(signals), FindingId::input_io);
  EXPECT_THAT(rules::input_io(signals, kLimits)->text, HasSubstr("the job reads 200 MB/s from storage"));
  // Others may read as well: less sure.
  auto host = signals;
  host.jobs[0].read_bytes_per_second.reset();
  host.host.read_bytes_per_second = 200e6;
  EXPECT_LT(rules::input_io(host, kLimits)->confidence, rules::input_io(signals, kLimits)->confidence);
  // Over a network file system nothing is read from a disk.
  host.host.read_bytes_per_second = 0;
  host.host.network_bytes_per_second = 300e6;
  EXPECT_THAT(rules::input_io(host, kLimits)->text, HasSubstr("receives 300 MB/s over the network"));
  host.host.network_bytes_per_second = 0;
  host.jobs[0].disk_wait_percent = 70;
  EXPECT_THAT(rules::input_io(host, kLimits)->text, HasSubstr("wait for a disk"));
}

TEST(Rules, WaitingWithoutACauseIsNotBlamedOnAnybody) {
  auto signals = starved(10);
  signals.jobs[0].cpu_percent = 3;
  signals.host.cpu_percent = 2;
  EXPECT_EQ(state_of(signals), FindingId::unknown);
  EXPECT_EQ(rules::waiting(signals, kLimits)->weight, Weight::note);
  signals.jobs[0].command = "/usr/bin/python3 -m vllm.entrypoints.openai.api_server";
  EXPECT_EQ(rules::waiting(signals, kLimits)->weight, Weight::ok);
}

TEST(Rules, SmallKernels) {
  auto signals = at_work();
  signals.utilization = signals.active = 25;
  signals.sm = 0.5;
  signals.tensor = signals.fp32 = signals.dram = 0;
  signals.receive_bytes_per_second = 80e6;
  EXPECT_EQ(state_of(signals), FindingId::launch_bound);
  EXPECT_NEAR(fact(*rules::launch_bound(signals, kLimits), "fill_percent"), 2, 1e-9);
  // Nobody launches anything: one kernel that goes on and on.
  signals.utilization = signals.active = 99;
  signals.receive_bytes_per_second = 1e6;
  EXPECT_EQ(state_of(signals), FindingId::spinning);
  // A desktop's compositor is no training.
  signals.active = 5;
  signals.jobs[0].compute = false;
  signals.jobs[0].cpu_percent = 4;
  EXPECT_EQ(state_of(signals), FindingId::unknown);
}

TEST(Rules, CopiesCountAsUtilisationButDoNotCompute) {
  auto signals = at_work();
  signals.active = signals.sm = 2;
  signals.tensor = signals.dram = 0;
  signals.receive_bytes_per_second = 20 * kGiga;
  const auto finding = rules::copy_bound(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(*finding->lost_share, 0.97, 1e-9);
  EXPECT_EQ(state_of(signals), FindingId::copy_bound);
  // Batches on their way while kernels run.
  signals.active = 95;
  signals.sm = 80;
  EXPECT_FALSE(rules::copy_bound(signals, kLimits));
}

TEST(Rules, OneStopIsANoteAndAtTheStartOfAJobNothing) {
  const auto stops = [](const std::function<bool(int)> &works, double age) {
    auto signals = at_work();
    signals.jobs[0].age_seconds = age;
    signals.activity = {};
    for (int second = 0; second < 30; ++second) signals.activity.add(second, works(second) ? 90 : 0);
    return rules::periodic_stalls(signals, kLimits);
  };
  const auto in_the_middle = stops([](int second) { return second < 10 || second >= 18; }, 600);
  ASSERT_TRUE(in_the_middle);
  EXPECT_EQ(in_the_middle->weight, Weight::note);
  EXPECT_EQ(stops([](int second) { return second < 10 || second >= 18; }, 5)->weight, Weight::note);
  EXPECT_FALSE(stops([](int second) { return second < 2 || second >= 10; }, 5)) << "still being set up";
  EXPECT_EQ(stops([](int second) { return second % 14 < 7; }, 5)->weight, Weight::problem) << "and again at the end";
}

// A checkpoint while it is written: the core that writes it does not starve the GPU.
TEST(Rules, WorkThatHasJustStoppedIsNotStarved) {
  auto signals = at_work();
  signals.active = signals.utilization = 58;
  signals.sm = 52;
  signals.jobs[0].processes = signals.jobs[0].busy_processes = 1;
  signals.activity = {};
  for (int second = 0; second < 12; ++second) signals.activity.add(second, second < 7 ? 90 : 0);
  signals.seconds = 11;
  const auto finding = rules::periodic_stalls(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->weight, Weight::note) << "it may go on at once";
  EXPECT_FALSE(rules::input_cpu(signals, kLimits));
  EXPECT_FALSE(rules::waiting(signals, kLimits));
}

TEST(Rules, WorkThatStopsAgainAndAgain) {
  auto signals = at_work();
  signals.activity = {};
  for (int second = 0; second < 60; ++second) signals.activity.add(second, second % 20 < 15 ? 90 : 0);
  const auto finding = rules::periodic_stalls(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->weight, Weight::problem);
  EXPECT_EQ(fact(*finding, "stalls"), 2);
  EXPECT_EQ(fact(*finding, "stall_seconds"), 5);
  signals.jobs[0].write_bytes_per_second = 400e6;
  EXPECT_THAT(rules::periodic_stalls(signals, kLimits)->text, HasSubstr("while the job writes"));
}

TEST(Rules, TheWrongUnits) {
  auto signals = at_work();
  signals.tensor = 0;
  signals.fp32 = 70;
  signals.dram = 10;
  EXPECT_EQ(state_of(signals), FindingId::tensor_unused);
  signals.fp32 = 0;
  signals.tensor = signals.tensor_fp64 = 70;
  EXPECT_EQ(state_of(signals), FindingId::wrong_precision);
  EXPECT_EQ(rules::wrong_precision(signals, kLimits)->weight, Weight::problem);
  // A simulation knows why it computes so.
  signals.jobs[0].name = "gromacs";
  signals.jobs[0].command = "gmx mdrun";
  EXPECT_EQ(rules::wrong_precision(signals, kLimits)->weight, Weight::note);
}

TEST(Rules, TheMemoryIsTheLimit) {
  auto signals = at_work();
  signals.dram = 85;
  signals.tensor = 2;
  EXPECT_EQ(state_of(signals), FindingId::memory_bandwidth);
  EXPECT_EQ(rules::memory_bandwidth(signals, kLimits)->weight, Weight::note);
  // Accesses all over the place.
  signals.dram = 35;
  signals.fp32 = 1;
  signals.integer = 60;
  EXPECT_EQ(state_of(signals), FindingId::memory_bandwidth);
  signals.tensor = 30;
  EXPECT_EQ(state_of(signals), FindingId::healthy);
}

TEST(Rules, HeldWithoutWork) {
  auto signals = at_work();
  signals.utilization = signals.active = signals.sm = 0;
  signals.activity = {};
  signals.jobs[0].cpu_percent = 0;
  EXPECT_EQ(state_of(signals), FindingId::hung);
  EXPECT_EQ(rules::hung(signals, kLimits)->lost_share, 1);
  // It loads or compiles: it may be about to go on.
  signals.jobs[0].cpu_percent = 80;
  EXPECT_NE(state_of(signals), FindingId::hung);
  signals.jobs[0].cpu_percent = 0;
  signals.jobs[0].command = "/usr/bin/python3 -m ipykernel_launcher -f kernel.json";
  EXPECT_EQ(state_of(signals), FindingId::memory_held_idle);
  EXPECT_EQ(rules::memory_held_idle(signals, kLimits)->weight, Weight::note);
  signals.jobs.clear();
  EXPECT_EQ(state_of(signals), FindingId::idle);
}

TEST(Rules, HeldBack) {
  auto signals = at_work();
  signals.capped_share = 1;
  EXPECT_FALSE(rules::throttled_power(signals, kLimits)) << "at its limit and still at its highest clock";
  signals.clock_share = 0.75;
  EXPECT_EQ(rules::throttled_power(signals, kLimits)->weight, Weight::note);
  EXPECT_EQ(rules::throttled_power(signals, kLimits)->lost_share, 0.25);
  signals.thermal_share = 0.4;
  EXPECT_EQ(rules::throttled_thermal(signals, kLimits)->weight, Weight::problem);
  signals.hardware_share = 0.4;
  EXPECT_EQ(rules::throttled_hardware(signals, kLimits)->weight, Weight::problem);
}

void set_memory(DeviceSignals &signals, const std::function<double(int)> &bytes) {
  signals.memory = signals.jobs[0].memory = {};
  for (int second = 0; second <= 30; ++second) {
    signals.memory.add(second, bytes(second));
    signals.jobs[0].memory.add(second, bytes(second));
  }
}

TEST(Rules, MemoryThatGrows) {
  auto signals = at_work();
  set_memory(signals, [](int second) { return (10 + second) * kGiga; });
  const auto finding = rules::memory_leak(signals, kLimits);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(fact(*finding, "memory_growth_bytes_per_second"), kGiga, 1);
  EXPECT_NEAR(fact(*finding, "seconds_left"), 40, 1e-6);
  EXPECT_EQ(finding->pids, std::vector<std::uint32_t>{560});
  signals.jobs[0].framework = "JAX";
  EXPECT_FALSE(rules::memory_leak(signals, kLimits)) << "it takes what there is";
}

TEST(Rules, MemoryThatIsTakenAtTheStartIsNoLeak) {
  auto signals = at_work();
  set_memory(signals, [](int second) { return second < 5 ? second * 14 * kGiga : 70 * kGiga; });
  EXPECT_FALSE(rules::memory_leak(signals, kLimits));
  // Up and down with every step.
  set_memory(signals, [](int second) { return (40 + 10 * (second % 3)) * kGiga; });
  EXPECT_FALSE(rules::memory_leak(signals, kLimits));
}

TEST(Rules, MemoryFullOrHalfEmpty) {
  auto signals = at_work();
  set_memory(signals, [](int) { return 78 * kGiga; });
  EXPECT_THAT(rules::memory_full(signals, kLimits)->text, HasSubstr("process 560 holds"));
  signals.jobs[0].framework = "vLLM";
  EXPECT_FALSE(rules::memory_full(signals, kLimits));
  signals.jobs[0].framework = "PyTorch";
  set_memory(signals, [](int) { return 20 * kGiga; });
  EXPECT_EQ(fact(*rules::memory_headroom(signals, kLimits), "batch_factor"), 3);  // 0.9 * 80 / 20, rounded down
  signals.sm = signals.active = signals.utilization = 10;
  EXPECT_FALSE(rules::memory_headroom(signals, kLimits)) << "a larger batch helps nobody who waits";
}

TEST(Rules, TheHostsMemory) {
  auto signals = at_work();
  signals.host.memory_bytes = 122 * kGiga;
  EXPECT_FALSE(rules::host_memory(signals, kLimits)) << "somebody else's";
  signals.jobs[0].host_memory_bytes = 100 * kGiga;
  EXPECT_EQ(rules::host_memory(signals, kLimits)->weight, Weight::problem);
}

TEST(Rules, ALinkThatIsSlowUnderLoad) {
  auto signals = at_work();
  signals.link_width = 8;
  EXPECT_EQ(rules::link_degraded(signals, kLimits)->weight, Weight::note);
  signals.utilization = 0;
  EXPECT_FALSE(rules::link_degraded(signals, kLimits)) << "a link rests when the GPU does";
}

TEST(Rules, TheBoardNeedsAttention) {
  auto signals = at_work();
  signals.worries = {{.name = "remapped_rows_pending", .value = 1}};
  EXPECT_EQ(rules::health(signals, kLimits)->weight, Weight::note);
  signals.events = {{.time = {}, .device = {}, .kind = EventKind::xid, .code = 79, .text = {}}};
  EXPECT_EQ(rules::health(signals, kLimits)->weight, Weight::problem);
  EXPECT_THAT(rules::health(signals, kLimits)->text, HasSubstr("XID 79"));
  // The program's own mistake.
  signals.worries.clear();
  signals.events[0].code = 13;
  EXPECT_FALSE(rules::health(signals, kLimits));
  signals.lost = true;
  EXPECT_EQ(rules::health(signals, kLimits)->weight, Weight::problem);
}

std::vector<DeviceSignals> two_of_one_job() {
  std::vector<DeviceSignals> devices{at_work(), at_work()};
  for (std::uint32_t i = 0; i < 2; ++i) {
    devices[i].id = {.index = i};
    devices[i].jobs[0].pid = 560 + i;
    devices[i].jobs[0].parent = 500;
    devices[i].jobs[0].parent_name = "torchrun";
  }
  return devices;
}

TEST(Rules, OneGpuOfAJobWaitsForTheOther) {
  auto devices = two_of_one_job();
  EXPECT_TRUE(imbalances(devices, kLimits).empty());
  devices[1].sm = 15;
  const auto found = imbalances(devices, kLimits);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].text, HasSubstr("GPU 1 of the job waits for GPU 0"));
  EXPECT_EQ(found[0].devices.size(), 2U);
  // Two jobs that a person has started in one shell have nothing to do with each other.
  for (auto &device : devices) device.jobs[0].parent_name = "bash";
  EXPECT_TRUE(imbalances(devices, kLimits).empty());
}

TEST(Rules, AStarvedGpuHoldsUpTheOthers) {
  auto devices = two_of_one_job();
  devices[0].active = devices[0].utilization = 40;
  devices[0].sm = 25;
  devices[1].sm = 16;  // spins until the other one is there
  const auto found = imbalances(devices, kLimits);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].text, HasSubstr("GPU 1 of the job waits for GPU 0"));
}

}  // namespace
}  // namespace gpulse::insight
