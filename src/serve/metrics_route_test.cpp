// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics_route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kOpen = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";

SnapshotPtr sample(double watts) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = "GPU-a";
  identity->vendor = "acme";
  Device device;
  device.identity = identity;
  device.row[device_metric("power_draw_watts")] = watts;
  auto made = std::make_shared<Snapshot>();
  made->time = wall_now();
  made->devices.push_back(std::move(device));
  return made;
}

class MetricsRouteTest : public ::testing::Test {
 protected:
  Monotonic now_ = monotonic_now();
  Board board_;
  std::vector<PodDevice> pods_;
  MetricsRoute route_{board_, {.pods = [this] { return pods_; }, .now = [this] { return now_; }}};
};

TEST_F(MetricsRouteTest, TheFormatIsWhatTheScraperLikes) {
  board_.post(sample(200), 1s);
  const auto text = route_.respond("");
  EXPECT_EQ(text.status, 200);
  EXPECT_EQ(text.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(*text.body, HasSubstr("\ngpulse_power_draw_watts{gpu=\"0\",uuid=\"GPU-a\",vendor=\"acme\"} 200\n"));
  const auto open = route_.respond(kOpen);
  EXPECT_EQ(open.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_THAT(*open.body, EndsWith("# EOF\n"));
}

TEST_F(MetricsRouteTest, OneTextPerSampleAndFormatForAll) {
  board_.post(sample(200), 1s);
  const auto first = route_.respond("");
  EXPECT_EQ(route_.respond("text/plain").body, first.body) << "the very same";
  EXPECT_NE(route_.respond(kOpen).body, first.body);
  board_.post(sample(300), 1s);
  EXPECT_THAT(*route_.respond("").body, HasSubstr("vendor=\"acme\"} 300\n"));
}

TEST_F(MetricsRouteTest, WhoWantsWhatIsUsualGetsNoMore) {
  board_.post(sample(200), 1s);
  const auto usual = route_.respond("", "usual");
  const std::string labels = "{gpu=\"0\",uuid=\"GPU-a\",vendor=\"acme\"";
  EXPECT_THAT(*usual.body, HasSubstr("\ngpulse_power_draw_watts" + labels + "} 200\n"));
  EXPECT_THAT(*usual.body, HasSubstr("\ngpulse_gpu_state" + labels + ",state=\"ok\"} 1\n"));
  EXPECT_THAT(*usual.body, Not(HasSubstr("state=\"lost\"")));
  EXPECT_THAT(*route_.respond("").body, HasSubstr("state=\"lost\"} 0\n"));
  EXPECT_THAT(*route_.respond(kOpen, "usual").body, EndsWith("# EOF\n"));
  EXPECT_EQ(route_.respond("", "some").status, 400);
}

TEST_F(MetricsRouteTest, AnOldSampleHasNoReadings) {
  board_.post(sample(200), 1s);
  EXPECT_THAT(*route_.respond("").body, HasSubstr("\ngpulse_up 1\n"));
  now_ += 5s;
  const auto late = route_.respond("");
  EXPECT_THAT(*late.body, HasSubstr("\ngpulse_up 0\n"));
  EXPECT_THAT(*late.body, Not(HasSubstr("gpulse_power_draw_watts")));
}

TEST_F(MetricsRouteTest, ThePodOfADevice) {
  pods_ = {{"GPU-a", "research", "train-0", "main"}};
  board_.post(sample(200), 1s);
  EXPECT_THAT(*route_.respond("").body, HasSubstr("gpulse_gpu_owner_info{uuid=\"GPU-a\",gpu_pod=\"train-0\","));
}

TEST_F(MetricsRouteTest, ManyScrapeWhileSamplesCome) {
  board_.post(sample(1), 1s);
  std::vector<std::jthread> scrapers;
  for (int i = 0; i < 4; ++i) {
    scrapers.emplace_back([this, i](const std::stop_token &stop) {
      while (!stop.stop_requested()) {
        EXPECT_THAT(*route_.respond(i % 2 == 0 ? "" : kOpen).body, HasSubstr("gpulse_up 1\n"));
      }
    });
  }
  for (int i = 0; i < 300; ++i) board_.post(sample(i), 1s);
}

}  // namespace
}  // namespace gpulse::serve
