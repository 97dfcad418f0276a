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
constexpr auto kUse = process_metric("gpu_utilization_percent");
constexpr auto kMemory = process_metric("gpu_memory_bytes");
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
  void use(const ClientRules &rules) { clients_ = Clients(machine_.root(), openers_, card_, rules); }
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
  std::shared_ptr<Openers> openers_ = std::make_shared<Openers>(machine_.root());
  Card card_ = [] {
    Card card;
    card.nodes = {{kDrmMajor, 0}, {kDrmMajor, 128}};
    return card;
  }();
  Clients clients_{machine_.root(), openers_, card_, {}};
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

}  // namespace

}  // namespace gpulse::drm
