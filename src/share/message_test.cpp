// SPDX-License-Identifier: Apache-2.0
#include "share/message.hpp"

#include <gtest/gtest.h>

#include "codec/testing.hpp"

namespace gpulse::share {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

// The one frame that the bytes are.
Frame frame_of(const Bytes &bytes) {
  Frame frame;
  EXPECT_EQ(next_frame(bytes, kLargestAnswer, frame), Framing::whole);
  EXPECT_EQ(frame.body.size() + kFrameHead, bytes.size());
  return frame;
}

// `earlier`: versions that had less to say.
template <class Message>
Message there_and_back(const Message &message, MessageKind kind, std::size_t earlier = 0) {
  const auto bytes = encode(message);
  const auto frame = frame_of(bytes);
  EXPECT_EQ(frame.kind, kind);
  auto back = decode<Message>(frame.body);
  EXPECT_TRUE(back);
  // No other shorter body makes sense, whatever it ends in.
  std::size_t good = 0;
  for (std::size_t size = 0; size < frame.body.size(); ++size) {
    good += decode<Message>(frame.body.first(size)) ? 1U : 0U;
  }
  EXPECT_EQ(good, earlier);
  // One with more behind it does: a later version may have more to say.
  Bytes longer(frame.body.begin(), frame.body.end());
  longer.resize(longer.size() + 3, std::byte{1});
  EXPECT_TRUE(decode<Message>(longer));
  return back.value_or(Message{});
}

TEST(Message, WantsAndWhatIsGrantedComeThrough) {
  const auto want = there_and_back(
      Want{.program = "gpulse top", .interval = 250ms, .metrics = {"power_draw_watts", "no_such_metric"}},
      MessageKind::want);
  EXPECT_EQ(want.program, "gpulse top");
  EXPECT_EQ(want.interval, 250ms);
  EXPECT_EQ(want.metrics, (std::vector<Text>{"power_draw_watts", "no_such_metric"}));
  EXPECT_EQ(there_and_back(Granted{.interval = 1s}, MessageKind::granted).interval, 1s);
}

TEST(Message, OtherRequestsComeThrough) {
  EXPECT_EQ(there_and_back(Release{.time = 5min}, MessageKind::release).time, 5min);
  EXPECT_EQ(there_and_back(Refused{.why = "not for you"}, MessageKind::refused).why, "not for you");
  EXPECT_EQ(there_and_back(DetailsRequest{.metrics = {"a", "b"}}, MessageKind::details).metrics.size(), 2);
  for (const auto kind : {MessageKind::status, MessageKind::resume, MessageKind::done}) {
    const auto bytes = encode(kind);
    EXPECT_EQ(bytes.size(), kFrameHead);
    EXPECT_EQ(frame_of(bytes).kind, kind);
  }
}

TEST(Message, TheStatusComesThrough) {
  AgentStatus status;
  status.version = "0.1.0";
  status.pid = 4711;
  status.user = 1000;
  status.running = 3h;
  status.interval = 100ms;
  status.usual_interval = 1s;
  status.fastest = 50ms;
  status.released_for = 30s;
  status.processor_time = 1234ms;
  status.memory_bytes = std::uint64_t{20} << 20U;
  status.segment_bytes = 840'000;
  status.samples = std::uint64_t{1} << 60U;
  status.readers = {{.pid = 1, .user = 2, .program = "top", .interval = 100ms, .since = 1min},
                    {.pid = 3, .user = 4, .program = "a\nb", .interval = 2s, .since = 2h}};
  status.costs = {
      {.source = "nvml", .call = "nvmlDeviceGetPowerUsage", .tier = 2, .slowed = true, .mean = 17us, .calls = 99}};
  status.history = {.file = "/var/lib/gpulse/history.db", .problem = "full", .bytes = 5, .samples = 6, .lost = 7};
  status.remote_write = {
      .url = "https://metrics.example/w", .problem = "status 503", .taken = 8, .refused = 9, .behind = 10s};
  const auto back = there_and_back(status, MessageKind::status_answer, 2);
  EXPECT_EQ(back.remote_write.url, "https://metrics.example/w");
  EXPECT_EQ(back.remote_write.problem, "status 503");
  EXPECT_EQ(back.remote_write.taken, 8);
  EXPECT_EQ(back.remote_write.refused, 9);
  EXPECT_EQ(back.remote_write.behind, 10s);
  EXPECT_EQ(back.history.file, "/var/lib/gpulse/history.db");
  EXPECT_EQ(back.history.problem, "full");
  EXPECT_EQ(back.history.bytes, 5);
  EXPECT_EQ(back.history.samples, 6);
  EXPECT_EQ(back.history.lost, 7);
  EXPECT_EQ(back.version, "0.1.0");
  EXPECT_EQ(back.pid, 4711);
  EXPECT_EQ(back.user, 1000);
  EXPECT_EQ(back.running, 3h);
  EXPECT_EQ(back.interval, 100ms);
  EXPECT_EQ(back.usual_interval, 1s);
  EXPECT_EQ(back.fastest, 50ms);
  EXPECT_EQ(back.released_for, 30s);
  EXPECT_EQ(back.processor_time, 1234ms);
  EXPECT_EQ(back.memory_bytes, std::uint64_t{20} << 20U);
  EXPECT_EQ(back.segment_bytes, 840'000);
  EXPECT_EQ(back.samples, std::uint64_t{1} << 60U);
  ASSERT_EQ(back.readers.size(), 2);
  EXPECT_EQ(back.readers[1].pid, 3);
  EXPECT_EQ(back.readers[1].user, 4);
  EXPECT_EQ(back.readers[1].program, status.readers[1].program);
  EXPECT_EQ(back.readers[1].interval, 2s);
  EXPECT_EQ(back.readers[1].since, 2h);
  ASSERT_EQ(back.costs.size(), 1);
  EXPECT_EQ(back.costs[0].source, "nvml");
  EXPECT_EQ(back.costs[0].call, "nvmlDeviceGetPowerUsage");
  EXPECT_EQ(back.costs[0].tier, 2);
  EXPECT_TRUE(back.costs[0].slowed);
  EXPECT_EQ(back.costs[0].mean, 17us);
  EXPECT_EQ(back.costs[0].calls, 99);
}

TEST(Message, AlertsComeThrough) {
  const AlertsAnswer answer{.is_on = true,
                            .problem = "a disk",
                            .alerts = {{.rule = "GpuLost",
                                        .severity = "critical",
                                        .gpu = "3",
                                        .uuid = "GPU-3",
                                        .detail = "79",
                                        .summary = "It is lost",
                                        .value = "95 °C",
                                        .is_firing = true,
                                        .is_silent = true,
                                        .since = 90s,
                                        .waiting = {"ops"}}},
                            .receivers = {{.name = "ops",
                                           .kind = "webhook",
                                           .problem = "away",
                                           .sent = 1,
                                           .failed = 2,
                                           .given_up = 3,
                                           .waiting = 4,
                                           .next = 5s}},
                            .silences = {{.rule = "Gpu*", .gpu = "3", .rest = 2h}}};
  const auto back = there_and_back(answer, MessageKind::alerts_answer);
  EXPECT_TRUE(back.is_on);
  EXPECT_EQ(back.problem, "a disk");
  ASSERT_EQ(back.alerts.size(), 1U);
  EXPECT_EQ(back.alerts[0].value, "95 °C");
  EXPECT_TRUE(back.alerts[0].is_firing && back.alerts[0].is_silent);
  EXPECT_EQ(back.alerts[0].since, 90s);
  EXPECT_EQ(back.alerts[0].waiting, std::vector<Text>{"ops"});
  ASSERT_EQ(back.receivers.size(), 1U);
  EXPECT_EQ(back.receivers[0].given_up, 3U);
  EXPECT_EQ(back.receivers[0].next, 5s);
  ASSERT_EQ(back.silences.size(), 1U);
  EXPECT_EQ(back.silences[0].rest, 2h);
  const auto request = there_and_back(SilenceRequest{.rule = "GpuLost", .gpu = "3", .time = 2h}, MessageKind::silence);
  EXPECT_EQ(request.gpu, "3");
  EXPECT_EQ(request.time, 2h);
}

TEST(Message, DetailsComeThroughToTheLastBit) {
  codec::testing::RandomDetails random(13);
  for (int round = 0; round < 50; ++round) {
    DetailsAnswer answer{.age = 3s, .devices = {}};
    for (int i = 0; i < round % 4; ++i)
      answer.devices.push_back({.uuid = "GPU-" + std::to_string(i), .details = random.next()});
    const auto bytes = encode(answer);
    const auto frame = frame_of(bytes);
    EXPECT_EQ(frame.kind, MessageKind::details_answer);
    const auto back = decode<DetailsAnswer>(frame.body);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->age, 3s);
    ASSERT_EQ(back->devices.size(), answer.devices.size());
    for (std::size_t i = 0; i < answer.devices.size(); ++i) {
      EXPECT_EQ(back->devices[i].uuid, answer.devices[i].uuid);
      EXPECT_TRUE(codec::testing::same(back->devices[i].details, answer.devices[i].details)) << round;
    }
    EXPECT_FALSE(decode<DetailsAnswer>(frame.body.first(frame.body.size() - 1)));
    EXPECT_FALSE(decode<DetailsAnswer>(frame.body.first(frame.body.size() / 2)));
  }
}

TEST(Message, TimesAreNeitherNegativeNorBeyondMeasure) {
  EXPECT_EQ(there_and_back(Granted{.interval = -1s}, MessageKind::granted).interval, 0s);
  const auto longest = there_and_back(Granted{.interval = std::chrono::nanoseconds::max()}, MessageKind::granted);
  EXPECT_EQ(longest.interval, 1'000'000'000s);
}

TEST(Message, TextOfOthersIsSafeToPrint) {
  auto bytes = encode(Refused{.why = "abcdefgh"});
  bytes[kFrameHead + 1] = std::byte{0x1B};  // behind its length
  const auto back = decode<Refused>(frame_of(bytes).body);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->why.str().find('\x1B'), std::string::npos);
}

TEST(Message, ListsAreCutOffWhereTheOtherSideWouldRefuseThem) {
  const auto bytes = encode(Want{.program = "x", .interval = 1s, .metrics = std::vector<Text>(5000, "m")});
  const auto back = decode<Want>(frame_of(bytes).body);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->metrics.size(), 4096);
}

TEST(Frames, ComeInPiecesAndInRows) {
  auto bytes = encode(Granted{.interval = 1s});
  const auto first = bytes.size();
  const auto second = encode(MessageKind::status);
  bytes.insert(bytes.end(), second.begin(), second.end());
  Frame frame;
  for (std::size_t size = 0; size < first; ++size)
    EXPECT_EQ(next_frame(std::span(bytes).first(size), kLargestRequest, frame), Framing::partial) << size;
  ASSERT_EQ(next_frame(bytes, kLargestRequest, frame), Framing::whole);
  EXPECT_EQ(frame.kind, MessageKind::granted);
  EXPECT_EQ(frame.body.size() + kFrameHead, first);
  ASSERT_EQ(next_frame(std::span(bytes).subspan(first), kLargestRequest, frame), Framing::whole);
  EXPECT_EQ(frame.kind, MessageKind::status);
}

TEST(Frames, ThoseThatAreTooLargeAreKnownByTheirHead) {
  Bytes head{std::byte{1}, std::byte{0}, std::byte{4}, std::byte{0}, std::byte{1}};  // 256 KiB and one
  Frame frame;
  EXPECT_EQ(next_frame(head, kLargestRequest, frame), Framing::too_large);
  head[0] = std::byte{0};
  EXPECT_EQ(next_frame(head, kLargestRequest, frame), Framing::partial);
  EXPECT_EQ(next_frame(head, kLargestRequest - 1, frame), Framing::too_large);
}

TEST(MetricKeys, NameMetricsInWhateverScope) {
  const MetricSet set{device_metric("power_draw_watts"), process_metric("gpu_memory_bytes"), detail_metric("board_id")};
  const auto keys = metric_keys(set);
  EXPECT_EQ(keys.size(), 3);
  const auto back = metric_set(keys);
  for (const auto id :
       {device_metric("power_draw_watts"), process_metric("gpu_memory_bytes"), detail_metric("board_id")})
    EXPECT_TRUE(back.contains(id));
  const std::vector<Text> unknown{"of_a_later_version", ""};
  EXPECT_TRUE(metric_keys(metric_set(unknown)).empty());
}

}  // namespace
}  // namespace gpulse::share
