// SPDX-License-Identifier: Apache-2.0
#include "serve/stream.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/clock.hpp"
#include "history/testing.hpp"
#include "http/loop.hpp"

namespace gpulse::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
namespace made = history::testing;

// What a client gets, without a network.
class Client : public http::Subscriber {
 public:
  void take(const http::Frame &frame) override { frames.push_back(frame); }
  void end() override { ended = true; }

  std::vector<http::Frame> frames;
  bool ended = false;
};

class StreamTest : public ::testing::Test {
 protected:
  static SnapshotPtr sample(int second) {
    Snapshot now;
    now.time = made::at(second);
    now.hostname = "made-up";
    for (std::uint32_t i = 0; i < 2; ++i) {
      now.devices.push_back(made::make_device(i));
      now.devices.back().row[device_metric("gpu_utilization_percent")] = 10.0 * i + second;
    }
    now.processes.push_back(made::make_process(7, 0, "ann", "python --password hunter2"));
    return std::make_shared<const Snapshot>(std::move(now));
  }
  static std::string id(int second) { return fmt::format("{}", (made::kStart + second) * 1000); }

  // Posts, and waits until the stream has passed it on.
  void post(const Stream &stream, const SnapshotPtr &one) {
    const auto before = stream.samples();
    board_.post(one);
    const auto limit = monotonic_now() + 10s;
    while (stream.samples() == before && monotonic_now() < limit) sleep_until(monotonic_now() + 1ms);
    EXPECT_EQ(stream.samples(), before + 1);
    loop_.poll();
  }
  http::Response open(Stream &stream, http::Fields query = {}, http::Fields headers = {}, bool sees_commands = true) {
    http::Response got;
    stream.open({.path = "/api/v1/stream", .query = std::move(query), .headers = std::move(headers)}, sees_commands,
                [&](http::Response response) { got = std::move(response); });
    return got;
  }
  std::shared_ptr<Client> join(const http::Response &response) {
    auto client = std::make_shared<Client>();
    response.stream->open_to(outlet_);
    response.stream->add(client);
    return client;
  }

  http::Loop loop_;
  std::shared_ptr<http::Outlet> outlet_ = std::make_shared<http::Outlet>(loop_);
  Board board_;
};

TEST_F(StreamTest, HasNothingBeforeTheFirstSample) {
  Stream stream(board_, {});
  EXPECT_EQ(open(stream).status, 503);
}

TEST_F(StreamTest, GreetsWithTheNewestSampleAndGoesOn) {
  Stream stream(board_, {.version = "1.2"});
  post(stream, sample(0));
  const auto response = open(stream);
  ASSERT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/event-stream");
  EXPECT_THAT(*response.body,
              ::testing::StartsWith("event: hello\ndata: {\"schema\":\"gpulse-stream/1\",\"version\":\"1.2\","));
  EXPECT_THAT(*response.body, HasSubstr("id: " + id(0) + "\nevent: sample\ndata: {\"schema\":\"gpulse/1\","));
  const auto client = join(response);
  post(stream, sample(1));
  ASSERT_EQ(client->frames.size(), 1U);
  EXPECT_TRUE(client->frames[0].may_be_replaced);
  EXPECT_THAT(*client->frames[0].text, ::testing::StartsWith("id: " + id(1) + "\nevent: sample\n"));
  EXPECT_THAT(*client->frames[0].text, Not(HasSubstr("\"events\"")));
}

TEST_F(StreamTest, SharesAChannelAmongThoseWhoAskForTheSame) {
  Stream stream(board_, {});
  post(stream, sample(0));
  const auto one = open(stream, {{"devices", "1"}, {"metrics", "power_draw_watts,gpu_utilization_percent"}});
  const auto same = open(stream, {{"metrics", "gpu_utilization_percent,power_draw_watts"}, {"devices", "GPU-1"}});
  const auto other = open(stream, {{"devices", "1"}});
  EXPECT_EQ(one.stream, same.stream);
  EXPECT_NE(one.stream, other.stream);
  EXPECT_EQ(stream.channels(), 2U);
  const auto client = join(one), second = join(same);
  post(stream, sample(5));
  ASSERT_EQ(client->frames.size(), 1U);
  EXPECT_EQ(client->frames[0].text, second->frames.at(0).text);
  EXPECT_THAT(*client->frames[0].text,
              HasSubstr(R"("metrics":{"gpu_utilization_percent":15,"power_draw_watts":null})"));
  EXPECT_THAT(*client->frames[0].text, Not(HasSubstr("GPU-0")));
}

TEST_F(StreamTest, KeepsCommandsFromThoseWhoMayNotSeeThem) {
  Stream stream(board_, {});
  post(stream, sample(0));
  const auto all = open(stream), less = open(stream, {}, {}, false);
  EXPECT_NE(all.stream, less.stream);
  EXPECT_THAT(*all.body, HasSubstr("hunter2"));
  EXPECT_THAT(*less.body, Not(HasSubstr("hunter2")));
  const auto client = join(less);
  post(stream, sample(1));
  EXPECT_THAT(*client->frames.at(0).text, Not(HasSubstr("hunter2")));
}

TEST_F(StreamTest, GivesOneWhoComesBackWhatItMissed) {
  Stream stream(board_, {.kept_samples = 3});
  post(stream, sample(0));
  open(stream);
  for (int second = 1; second <= 4; ++second) post(stream, sample(second));
  // Kept are 2, 3 and 4.
  const auto back = *open(stream, {}, {{"last-event-id", id(2)}}).body;
  EXPECT_THAT(back, HasSubstr(R"("missed_from":null)"));
  EXPECT_THAT(back, Not(HasSubstr("id: " + id(2) + "\n")));
  EXPECT_THAT(back, HasSubstr("id: " + id(3) + "\n"));
  EXPECT_THAT(back, HasSubstr("id: " + id(4) + "\n"));
  const auto late = *open(stream, {}, {{"last-event-id", id(1)}}).body;
  EXPECT_THAT(late, HasSubstr(R"("missed_from":"2023-11-14T22:14:01.000Z")"));
  EXPECT_THAT(late, Not(HasSubstr("id: " + id(3) + "\n")));
  EXPECT_THAT(late, HasSubstr("id: " + id(4) + "\n"));
  for (const auto *odd : {"", "x", "-99999999999999999999", "9223372036854775807"}) {
    EXPECT_EQ(open(stream, {}, {{"last-event-id", odd}}).status, 200) << odd;
  }
}

TEST_F(StreamTest, BoundsWhatItKeepsByBytes) {
  Stream stream(board_, {.kept_bytes = 1});
  post(stream, sample(0));
  open(stream);
  post(stream, sample(1));
  EXPECT_THAT(*open(stream, {}, {{"last-event-id", id(0)}}).body, HasSubstr(R"("missed_from":"2023)"));
}

TEST_F(StreamTest, BoundsTheNumberOfChannels) {
  Stream stream(board_, {.channels = 2});
  post(stream, sample(0));
  const auto one = open(stream, {{"devices", "0"}}), two = open(stream, {{"devices", "1"}});
  const auto first = join(one), second = join(two);
  const auto third = open(stream);
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.headers.at(0).first, "Retry-After");
  EXPECT_EQ(open(stream, {{"devices", "0"}}).status, 200);
  one.stream->remove(first.get());
  EXPECT_EQ(open(stream).status, 200);
}

TEST_F(StreamTest, ForgetsAChannelWithoutClients) {
  Stream stream(board_, {.linger = 0s});
  post(stream, sample(0));
  open(stream);
  EXPECT_EQ(stream.channels(), 1U);
  post(stream, sample(1));
  EXPECT_EQ(stream.channels(), 0U);
}

TEST_F(StreamTest, TellsEventsAndFindingsOnce) {
  Stream stream(board_, {});
  post(stream, sample(0));
  const auto all = join(open(stream)), other = join(open(stream, {{"devices", "1"}}));
  const insight::LastingFinding finding{
      .number = 3,
      .finding = {.id = insight::FindingId::idle, .devices = {{.index = 0}}, .since = made::at(0), .text = "rests"}};
  board_.post(std::vector{finding});
  auto happened = std::make_shared<Snapshot>(*sample(1));
  happened->events =
      std::vector<Event>{{.time = made::at(1), .device = "GPU-0", .kind = EventKind::xid, .code = 79, .text = "<b>"}};
  post(stream, happened);
  auto later = std::make_shared<Snapshot>(*sample(2));
  later->events = happened->events;
  post(stream, later);
  board_.post(std::vector<insight::LastingFinding>{});
  auto last = std::make_shared<Snapshot>(*sample(3));
  last->events = happened->events;
  post(stream, last);
  std::vector<std::string> names;
  for (const auto &frame : all->frames) {
    const auto begin = frame.text->find("event: ") + 7;
    names.push_back(frame.text->substr(begin, frame.text->find('\n', begin) - begin));
    EXPECT_EQ(frame.may_be_replaced, names.back() == "sample");
  }
  EXPECT_THAT(names, ::testing::ElementsAre("sample", "event", "finding", "sample", "sample", "finding_ended"));
  EXPECT_EQ(other->frames.size(), 3U);
  EXPECT_THAT(*all->frames[1].text, HasSubstr(R"("code":79,"text":"<b>"})"));
  EXPECT_THAT(*all->frames[2].text, HasSubstr(R"({"number":3,)"));
}

TEST_F(StreamTest, EndsItsClients) {
  std::shared_ptr<Client> client;
  {
    Stream stream(board_, {});
    post(stream, sample(0));
    client = join(open(stream));
  }
  loop_.poll();
  EXPECT_TRUE(client->ended);
  board_.post(sample(1));
}

TEST_F(StreamTest, RefusesWhatMakesNoSense) {
  Stream stream(board_, {});
  post(stream, sample(0));
  EXPECT_EQ(open(stream, {{"metrics", "nonsense"}}).status, 400);
  EXPECT_EQ(open(stream, {{"devices", "9"}}).status, 400);
  EXPECT_EQ(open(stream, {{"since", "1h"}}).status, 400);
}

}  // namespace
}  // namespace gpulse::serve
