// SPDX-License-Identifier: Apache-2.0
#include "source/drm/clients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/drm/fake_clients.hpp"

namespace gpulse::drm {

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr std::string_view kRenderNode = "/dev/dri/renderD128";
constexpr auto kRender = device_metric("render_utilization_percent");
constexpr auto kCompute = device_metric("compute_utilization_percent");
constexpr auto kVideo = device_metric("video_utilization_percent");
constexpr auto kEncoder = device_metric("encoder_utilization_percent");
constexpr auto kUse = process_metric("gpu_utilization_percent");
constexpr auto kMemory = process_metric("gpu_memory_bytes");
constexpr auto kSystemMemory = process_metric("gpu_system_memory_bytes");
constexpr auto kSharedMemory = process_metric("gpu_memory_shared_bytes");
constexpr auto kProcessRender = process_metric("render_utilization_percent");
constexpr double kMiB = 1 << 20;

std::string client(int id, std::string_view more) {
  return fmt::format("drm-driver:\tamdgpu\ndrm-client-id:\t{}\ndrm-pdev:\t0000:03:00.0\n{}", id, more);
}

class ClientsTest : public testing::Test {
 protected:
  ClientSums sample(std::chrono::nanoseconds after) {
    now_ += after;
    return clients_.read(now_, frame_);
  }
  void use(const ClientRules &rules) { clients_ = Clients(machine_.root(), users_, card_, rules); }
  std::vector<std::uint32_t> pids() const {
    std::vector<std::uint32_t> all;
    for (const auto &process : frame_.processes) all.push_back(process.pid);
    return all;
  }
  const Row &row(std::uint32_t pid) const {
    for (const auto &process : frame_.processes) {
      if (process.pid == pid) return process.row;
    }
    ADD_FAILURE() << "no process " << pid;
    return frame_.processes.at(0).row;
  }

  FakeClients machine_;
  std::shared_ptr<DeviceUsers> users_ = std::make_shared<DeviceUsers>(machine_.root());
  Card card_ = [] {
    Card card;
    card.nodes = {{kDrmMajor, 0}, {kDrmMajor, 128}};
    return card;
  }();
  Clients clients_{machine_.root(), users_, card_, {}};
  Frame frame_{Row(Scope::device), {}};
  Monotonic now_{1h};
};

TEST_F(ClientsTest, TellsTheUseOfAProcessFromTheSecondSampleOn) {
  machine_.start(100, 5000);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t1000000000 ns\ndrm-memory-vram:\t2 MiB\n"));
  sample(0s);
  EXPECT_TRUE(frame_.row[kRender].is(Reason::not_sampled));
  EXPECT_TRUE(row(100)[kUse].is(Reason::not_sampled));
  EXPECT_EQ(row(100)[kMemory], Reading(2 * kMiB));

  machine_.tell(100, 7, client(1, "drm-engine-gfx:\t1500000000 ns\ndrm-memory-vram:\t3 MiB\n"));
  const auto sums = sample(2s);
  EXPECT_EQ(frame_.row[kRender], Reading(25));  // 0.5 s of 2 s
  EXPECT_EQ(row(100)[kUse], Reading(25));
  EXPECT_EQ(row(100)[kMemory], Reading(3 * kMiB));
  EXPECT_EQ(sums.device_memory_bytes, Reading(3 * kMiB));
  EXPECT_EQ(frame_.row[device_metric("process_count")], Reading(1));
}

TEST_F(ClientsTest, CountsAClientThatSeveralProcessesHoldOnce) {
  // The compositor (pid 900, started first) passed its file to two children; 100 holds it twice.
  const auto now = [&](std::string_view ns) {
    const auto text = client(5, fmt::format("drm-engine-gfx:\t{} ns\ndrm-resident-vram:\t10 MiB\n", ns));
    for (const auto &[pid, fd] : {std::pair(900U, 4U), {100U, 7U}, {100U, 8U}, {101U, 3U}}) {
      machine_.open(pid, fd, kRenderNode, text);
    }
  };
  machine_.start(900, 1000);
  machine_.start(100, 2000);
  machine_.start(101, 3000);
  now("0");
  sample(0s);
  now("600000000");
  const auto sums = sample(1s);
  EXPECT_EQ(sums.clients, 1U);
  EXPECT_EQ(sums.device_memory_bytes, Reading(10 * kMiB));
  EXPECT_EQ(frame_.row[kRender], Reading(60));
  EXPECT_THAT(pids(), ElementsAre(100, 101, 900));
  EXPECT_EQ(row(900)[kUse], Reading(60));
  EXPECT_EQ(row(900)[kMemory], Reading(10 * kMiB));
  for (const auto pid : {100U, 101U}) {
    EXPECT_EQ(row(pid)[kUse], Reading(0)) << pid;
    EXPECT_EQ(row(pid)[kMemory], Reading(0)) << pid;
  }

  // The compositor ends: the client counts for the oldest remaining holder, from its second sample on.
  machine_.end(900);
  sample(1s);
  EXPECT_THAT(pids(), ElementsAre(100, 101));
  EXPECT_TRUE(row(100)[kUse].is(Reason::not_sampled));
  EXPECT_EQ(row(100)[kMemory], Reading(10 * kMiB));
  EXPECT_EQ(row(101)[kMemory], Reading(0));
  for (const auto &[pid, fd] : {std::pair(100U, 7U), {100U, 8U}, {101U, 3U}}) {
    machine_.tell(pid, fd, client(5, "drm-engine-gfx:\t900000000 ns\n"));
  }
  sample(1s);
  EXPECT_EQ(row(100)[kUse], Reading(30));
}

TEST_F(ClientsTest, AddsUpTheClientsOfAProcess) {
  machine_.start(100, 5000);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t0 ns\ndrm-memory-vram:\t1 MiB\n"));
  machine_.open(100, 8, "/dev/dri/card0", client(2, "drm-engine-gfx:\t0 ns\ndrm-memory-vram:\t4 MiB\n"));
  machine_.open(100, 9, "/dev/dri/renderD129", client(3, "drm-engine-gfx:\t0 ns\ndrm-memory-vram:\t100 MiB\n"));
  sample(0s);
  machine_.tell(100, 7, client(1, "drm-engine-gfx:\t100000000 ns\ndrm-engine-compute:\t800000000 ns\n"));
  machine_.tell(100, 8, client(2, "drm-engine-gfx:\t300000000 ns\n"));
  sample(1s);
  EXPECT_EQ(row(100)[kProcessRender], Reading(40));
  // A line that was not there before: the engine had done nothing until then.
  EXPECT_EQ(frame_.row[kCompute], Reading(80));
  EXPECT_EQ(row(100)[kUse], Reading(80));  // the busier of the two
  EXPECT_EQ(frame_.processes[0].types, 3);
}

TEST_F(ClientsTest, DividesByTheNumberOfEngines) {
  const auto text = [](long ns) {
    return client(1, fmt::format("drm-engine-video:\t{} ns\ndrm-engine-capacity-video:\t2\n", ns));
  };
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, text(0));
  sample(0s);
  machine_.tell(100, 7, text(500000000));
  sample(1s);
  EXPECT_EQ(frame_.row[kVideo], Reading(25));  // half a second of one of two
  machine_.tell(100, 7, text(2500000000));     // 2 s of work in 1 s: both fully busy
  sample(1s);
  EXPECT_EQ(frame_.row[kVideo], Reading(100));
}

TEST_F(ClientsTest, NeverTellsMoreThanAllOfTheTime) {
  for (const auto pid : {100U, 101U}) {
    machine_.start(pid, pid);
    machine_.open(pid, 7, kRenderNode, client(static_cast<int>(pid), "drm-engine-gfx:\t0 ns\n"));
  }
  sample(0s);
  for (const auto pid : {100U, 101U}) {
    machine_.tell(pid, 7, client(static_cast<int>(pid), "drm-engine-gfx:\t700000000 ns\n"));
  }
  sample(1s);
  EXPECT_EQ(row(100)[kUse], Reading(70));
  EXPECT_EQ(frame_.row[kRender], Reading(100));
  machine_.tell(100, 7, client(100, "drm-engine-gfx:\t9000000000 ns\n"));
  sample(1s);
  EXPECT_EQ(row(100)[kUse], Reading(100));
}

TEST_F(ClientsTest, KeepsTheGreaterCountWhenItGoesBackwards) {
  machine_.start(100, 1);
  const auto at = [&](std::string_view ns) {
    machine_.open(100, 7, kRenderNode, client(1, fmt::format("drm-engine-render:\t{} ns\n", ns)));
    sample(1s);
    return frame_.row[kRender];
  };
  at("1000000000");
  EXPECT_EQ(at("1200000000"), Reading(20));
  EXPECT_EQ(at("1100000000"), Reading(0));
  EXPECT_EQ(at("1300000000"), Reading(10));  // compared with the greatest so far, not with the last
}

TEST_F(ClientsTest, ComparesCyclesWithTheClockOfTheDevice) {
  const auto text = [](int cycles, int total) {
    return client(1, fmt::format("drm-cycles-rcs:\t{}\ndrm-total-cycles-rcs:\t{}\ndrm-cycles-ccs:\t{}\n"
                                 "drm-total-cycles-ccs:\t{}\ndrm-engine-capacity-ccs:\t4\n",
                                 cycles, total, cycles, total));
  };
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, text(1000, 50000));
  sample(0s);
  EXPECT_TRUE(frame_.row[kRender].is(Reason::not_sampled));
  machine_.tell(100, 7, text(1400, 51000));
  sample(3s);  // wall time does not matter
  EXPECT_EQ(frame_.row[kRender], Reading(40));
  EXPECT_EQ(frame_.row[kCompute], Reading(10));
  // The device lost power: its clock restarts, and nothing can be compared.
  machine_.tell(100, 7, text(100, 200));
  sample(1s);
  EXPECT_TRUE(frame_.row[kRender].is(Reason::not_sampled));
  machine_.tell(100, 7, text(150, 300));
  sample(1s);
  EXPECT_EQ(frame_.row[kRender], Reading(50));
}

TEST_F(ClientsTest, TakesTheBusierOfTwoEnginesOfAKind) {
  machine_.start(100, 1);
  const auto text = [](int fragment, int tiler) {
    return fmt::format(
        "drm-driver:\tpanfrost\ndrm-client-id:\t1\ndrm-engine-fragment:\t{} ns\ndrm-engine-vertex-tiler:\t{} ns\n",
        fragment, tiler);
  };
  machine_.open(100, 7, kRenderNode, text(0, 0));
  sample(0s);
  machine_.tell(100, 7, text(300000000, 600000000));
  sample(1s);
  EXPECT_EQ(frame_.row[kRender], Reading(60));
}

TEST_F(ClientsTest, UsesTheGreatestClockWhereTheDriverTellsOnlyCycles) {
  machine_.start(100, 1);
  const auto text = [](int cycles) {
    return fmt::format("drm-driver:\tmsm\ndrm-client-id:\t1\ndrm-cycles-gpu:\t{}\ndrm-maxfreq-gpu:\t1000000 Hz\n",
                       cycles);
  };
  machine_.open(100, 7, kRenderNode, text(5000));
  sample(0s);
  machine_.tell(100, 7, text(255000));
  sample(1s);
  EXPECT_EQ(frame_.row[kRender], Reading(25));
}

TEST_F(ClientsTest, DropsTheDifferenceWhenAFileIsAnotherClient) {
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t1000 ns\n"));
  sample(0s);
  // Closed and reopened under the same number between two scans of the process.
  machine_.tell(100, 7, client(2, "drm-engine-gfx:\t900000000 ns\n"));
  const auto sums = sample(1s);
  EXPECT_EQ(sums.clients, 1U);
  EXPECT_TRUE(row(100)[kUse].is(Reason::not_sampled));
  machine_.tell(100, 7, client(2, "drm-engine-gfx:\t1400000000 ns\n"));
  sample(1s);
  EXPECT_EQ(row(100)[kUse], Reading(50));
}

TEST_F(ClientsTest, DropsTheDifferenceWhenAnotherProcessHasTheNumber) {
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t1000 ns\n"));
  sample(0s);
  machine_.end(100);
  sample(1s);
  EXPECT_THAT(pids(), ElementsAre());
  machine_.start(100, 777);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t500000000 ns\n"));
  sample(1s);
  EXPECT_TRUE(row(100)[kUse].is(Reason::not_sampled));
}

TEST_F(ClientsTest, ReadsOneFileOfAClientInATick) {
  machine_.start(100, 1);
  machine_.start(200, 2);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t0 ns\n"));
  machine_.open(200, 3, kRenderNode, client(1, "drm-engine-gfx:\t0 ns\n"));
  sample(0s);
  // A change that would show if the file were read.
  machine_.tell(200, 3, client(9, "drm-engine-gfx:\t0 ns\n"));
  EXPECT_EQ(sample(1s).clients, 1U);
  // It is read after the next scan of its process.
  users_->scan_all(now_ + 9s);
  EXPECT_EQ(sample(9s).clients, 2U);
}

TEST_F(ClientsTest, SilentEnginesOfAKnownDriverAreIdle) {
  static constexpr std::array kSilent{kRender, kEncoder};
  use({.silent_when_idle = kSilent});
  sample(0s);
  EXPECT_TRUE(frame_.row[kEncoder].is(Reason::not_sampled));
  sample(1s);
  EXPECT_EQ(frame_.row[kRender], Reading(0));
  EXPECT_EQ(frame_.row[kEncoder], Reading(0));
  EXPECT_TRUE(frame_.row[kVideo].is(Reason::not_supported));
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t5 ns\n"));
  sample(1s);
  EXPECT_TRUE(row(100)[process_metric("encoder_utilization_percent")].is(Reason::not_sampled));
  sample(1s);
  EXPECT_EQ(row(100)[process_metric("encoder_utilization_percent")], Reading(0));
}

TEST_F(ClientsTest, WithoutProcessesToLookIntoNothingIsKnown) {
  static constexpr std::array kSilent{kRender, kEncoder};
  machine_.folder().remove("/proc");
  use({.silent_when_idle = kSilent});
  sample(0s);
  sample(1s);
  for (const auto id : kClientMetrics) EXPECT_TRUE(frame_.row[id].is(Reason::not_supported));
}

TEST_F(ClientsTest, TellsMemoryByKind) {
  const auto text =
      client(1,
             "drm-total-vram:\t64 MiB\ndrm-shared-vram:\t4 MiB\ndrm-resident-vram:\t32 MiB\n"
             "drm-total-gtt:\t8 MiB\ndrm-shared-gtt:\t1 MiB\ndrm-resident-gtt:\t6 MiB\ndrm-resident-cpu:\t2 MiB\n");
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, text);
  const auto sums = sample(0s);
  EXPECT_EQ(row(100)[kMemory], Reading(32 * kMiB));
  EXPECT_EQ(row(100)[kSystemMemory], Reading(6 * kMiB));
  EXPECT_EQ(row(100)[kSharedMemory], Reading(4 * kMiB));
  EXPECT_EQ(sums.system_memory_bytes, Reading(6 * kMiB));
  use({.integrated = true, .silent_when_idle = {}});
  sample(1s);
  EXPECT_EQ(row(100)[kMemory], Reading(38 * kMiB));
  EXPECT_EQ(row(100)[kSharedMemory], Reading(5 * kMiB));
}

TEST_F(ClientsTest, KnowsTheRegionsOfEveryDriver) {
  struct Case {
    std::string_view keys;
    bool integrated;
    double mib;
  };
  machine_.start(100, 1);
  for (const auto &[keys, integrated, mib] : {
           Case{"drm-resident-local0:\t5 MiB\ndrm-resident-system0:\t3 MiB\n", false, 5},
           Case{"drm-resident-system:\t5 MiB\ndrm-resident-stolen-system:\t3 MiB\n", true, 8},
           Case{"drm-resident-vram0:\t5 MiB\ndrm-resident-vram1:\t3 MiB\ndrm-resident-gtt:\t1 MiB\n", false, 8},
           Case{"drm-resident-system:\t5 MiB\ndrm-resident-gtt:\t3 MiB\ndrm-resident-stolen:\t1 MiB\n", true, 9},
           Case{"drm-total-memory:\t5 MiB\n", true, 5},
           Case{"drm-resident-gds:\t5 MiB\ndrm-resident-vram:\t0\ndrm-resident-doorbell:\t1 MiB\n", false, 0},
       }) {
    use({.integrated = integrated, .silent_when_idle = {}});
    machine_.open(100, 7, kRenderNode, client(1, keys));
    sample(1s);
    EXPECT_EQ(row(100)[kMemory], Reading(mib * kMiB)) << keys;
  }
}

TEST_F(ClientsTest, AProcessThatOnlyCopiesIsNeitherGraphicsNorCompute) {
  constexpr auto kGraphics = static_cast<std::uint8_t>(ProcessType::graphics);
  constexpr auto kComputing = static_cast<std::uint8_t>(ProcessType::compute);
  struct Case {
    std::string_view keys;
    std::uint8_t types;
  };
  machine_.start(100, 1);
  for (const auto &[keys, types] : {
           Case{"drm-engine-render:\t0 ns\ndrm-engine-copy:\t10640 ns\n", 0},
           Case{"drm-cycles-bcs:\t655\ndrm-total-cycles-bcs:\t7655183225\n", 0},
           Case{"drm-engine-dma:\t5 ns\n", 0},
           Case{"drm-engine-copy:\t5 ns\ndrm-engine-render:\t5 ns\n", kGraphics},
           Case{"drm-engine-copy:\t5 ns\ndrm-engine-compute:\t5 ns\n", kComputing},
           Case{"drm-engine-video:\t5 ns\n", kGraphics},
       }) {
    machine_.open(100, 7, kRenderNode, client(1, keys));
    sample(1s);
    EXPECT_EQ(frame_.processes.at(0).types, types) << keys;
  }
}

TEST_F(ClientsTest, ARegionWithoutAKindIsTheHostsWhereTheDeviceHasNoMemory) {
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, client(1, "drm-total-memory:\t5 MiB\n"));
  const auto of_a_card = sample(0s);
  EXPECT_TRUE(of_a_card.system_memory_bytes.is(Reason::not_supported));
  EXPECT_TRUE(of_a_card.device_memory_bytes.is(Reason::not_supported));
  use({.integrated = true, .silent_when_idle = {}});
  EXPECT_EQ(sample(1s).system_memory_bytes, Reading(5 * kMiB));
}

TEST_F(ClientsTest, ListsAProcessWhoseDriverTellsNothing) {
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, "pos:\t0\nflags:\t02100002\n");
  const auto sums = sample(0s);
  EXPECT_THAT(pids(), ElementsAre(100));
  EXPECT_EQ(sums.clients, 0U);
  EXPECT_TRUE(row(100)[kUse].is(Reason::not_supported));
  EXPECT_TRUE(row(100)[kMemory].is(Reason::not_supported));
  EXPECT_TRUE(sums.device_memory_bytes.is(Reason::not_supported));
}

TEST_F(ClientsTest, ClientsWithoutANumberAreEachAnOpenFile) {
  machine_.start(1066, 1);
  machine_.open(1066, 17, kRenderNode, "drm-driver: v3d\ndrm-total-memory: 3772 KiB\ndrm-resident-memory: 3520 KiB\n");
  machine_.open(1066, 18, kRenderNode, "drm-driver: v3d\ndrm-total-memory: 512 KiB\n");
  use({.integrated = true, .silent_when_idle = {}});
  EXPECT_EQ(sample(0s).clients, 2U);
  EXPECT_EQ(row(1066)[kMemory], Reading(4032 * 1024));
}

TEST_F(ClientsTest, TheOldFormTellsPercentAtOnce) {
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, "pdev:\t0000:04:00.0\npasid:\t32774\nvram mem:\t17196 kB\ngfx0:\t70.59%\n");
  sample(0s);
  EXPECT_EQ(row(100)[kUse], Reading(70.59));
  EXPECT_EQ(row(100)[kMemory], Reading(17196 * 1024));
}

TEST_F(ClientsTest, AFileThatVanishesCostsOnlyItsClient) {
  machine_.start(100, 1);
  machine_.start(200, 2);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-gfx:\t0 ns\n"));
  machine_.open(200, 7, kRenderNode, client(2, "drm-engine-gfx:\t0 ns\n"));
  sample(0s);
  machine_.close(100, 7);
  machine_.tell(200, 7, client(2, "drm-engine-gfx:\t250000000 ns\n"));
  EXPECT_EQ(sample(1s).clients, 1U);
  EXPECT_EQ(row(200)[kUse], Reading(25));
  EXPECT_EQ(sample(1s).clients, 1U);
  EXPECT_THAT(pids(), ElementsAre(200));  // it was scanned again at once
}

TEST_F(ClientsTest, CountersThatDoNotCountAreNoZero) {
  machine_.start(100, 1);
  machine_.open(100, 7, kRenderNode, client(1, "drm-engine-fragment:\t0 ns\ndrm-resident-memory:\t1 MiB\n"));
  sample(0s);
  sample(1s);
  EXPECT_EQ(frame_.row[kRender], Reading(0));
  refuse_engines(frame_, Reason::no_permission);
  EXPECT_TRUE(frame_.row[kRender].is(Reason::no_permission));
  EXPECT_TRUE(frame_.row[kVideo].is(Reason::not_supported));
  EXPECT_TRUE(row(100)[kProcessRender].is(Reason::no_permission));
  EXPECT_TRUE(row(100)[kUse].is(Reason::no_permission));
  EXPECT_EQ(row(100)[kMemory], Reading(kMiB));
}

}  // namespace

}  // namespace gpulse::drm
