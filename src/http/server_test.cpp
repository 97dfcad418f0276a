// SPDX-License-Identifier: Apache-2.0
// The server as a client sees it, over a socket of this machine.
#include "http/server.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <latch>
#include <thread>

#include "base/clock.hpp"
#include "base/temporary_folder.hpp"
#include "http/channel.hpp"

namespace gpulse::http {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Client {
 public:
  explicit Client(const Server &server) {
    const auto name = server.addresses().front();
    const auto port = parse_integer<std::uint16_t>(name.substr(name.rfind(':') + 1)).value();
    const sockaddr_in address{
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
  }

  void send(std::string_view text) const {
    EXPECT_EQ(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  void get(const std::string &path, const std::string &fields = "") const {
    send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n");
  }
  // What comes until that text is there; all of it where the connection ends before.
  std::string read_until(std::string_view end, std::chrono::milliseconds time = 5000ms) {
    const auto limit = monotonic_now() + time;
    auto found = in_.find(end);
    while (found == std::string::npos) {
      pollfd waiting{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - monotonic_now());
      if (left <= 0ms || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) break;
      std::array<char, 4096> piece{};
      const auto bytes = ::recv(socket_.get(), piece.data(), piece.size(), 0);
      ended_ = bytes <= 0;
      if (ended_) break;
      const auto searched = in_.size() - std::min(in_.size(), end.size());
      in_.append(piece.data(), static_cast<std::size_t>(bytes));
      found = in_.find(end, searched);
    }
    const auto size = found == std::string::npos ? in_.size() : found + end.size();
    auto text = in_.substr(0, size);
    in_.erase(0, size);
    return text;
  }
  std::string read_all(std::chrono::milliseconds time = 5000ms) { return read_until("\x01never", time); }
  bool has_ended() const { return ended_; }
  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  std::string in_;
  bool ended_ = false;
};

std::vector<Listener> any_port() { return *listen_on(*parse_address("127.0.0.1:0")); }

void echo(const Request &request, const Answer &answer) {
  answer(
      {.content_type = "text/plain", .body = std::make_shared<const std::string>(request.path + request.body + "!")});
}

TEST(Server, AnswersOneRequestAfterTheOther) {
  const Server server({}, any_port(), echo);
  Client client(server);
  client.get("/one");
  EXPECT_THAT(client.read_until("!"), StartsWith("HTTP/1.1 200 OK\r\n"));
  client.send("POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_THAT(client.read_until("!"), EndsWith("/twobody!"));
  client.send("GET /three HTTP/1.1\r\nHost: a\r\n\r\nGET /four HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const auto both = client.read_all();
  EXPECT_THAT(both, HasSubstr("/three!HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(both, EndsWith("/four!"));
  EXPECT_TRUE(client.has_ended());
  EXPECT_EQ(server.counts().requests, 4U);
}

TEST(Server, ARequestMayComeByteByByte) {
  const Server server({}, any_port(), echo);
  Client client(server);
  for (const char c : std::string_view("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"))
    client.send({&c, 1});
  EXPECT_THAT(client.read_until("!"), EndsWith("/xhi!"));
}

TEST(Server, WhatIsMalformedIsRefusedAndTheConnectionEnds) {
  const Server server({}, any_port(), echo);
  Client client(server);
  client.send(
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled "
      "HTTP/1.1\r\n\r\n");
  const auto text = client.read_all();
  EXPECT_THAT(text, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(text, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.has_ended());
  EXPECT_EQ(server.counts().requests, 0U);
}

TEST(Server, AHeadWithoutEndIsRefused) {
  const Server server({.limits = {.head_bytes = 1000}}, any_port(), echo);
  Client client(server);
  client.get("/", "X: " + std::string(10000, 'a') + "\r\n");
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 431 "));
  EXPECT_TRUE(client.has_ended());
}

TEST(Server, WhoDoesNotComeToTheEndOfARequestIsDropped) {
  const Server server({.limits = {.head_time = 200ms, .body_time = 200ms}}, any_port(), echo);
  Client slow(server);
  Client silent(server);
  Client without_body(server);
  slow.send("GET / HTT");
  without_body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
  for (auto *client : {&slow, &silent, &without_body}) {
    EXPECT_EQ(client->read_all(3000ms), "");
    EXPECT_TRUE(client->has_ended());
  }
}

TEST(Server, WhoKeepsSilentBetweenRequestsIsDropped) {
  const Server server({.limits = {.idle_time = 200ms}}, any_port(), echo);
  Client client(server);
  client.get("/");
  client.read_until("!");
  EXPECT_EQ(client.read_all(3000ms), "");
  EXPECT_TRUE(client.has_ended());
}

TEST(Server, ARequestThatNobodyAnswersGetsAnAnswer) {
  const Server server({}, any_port(), [](const Request &, const Answer &) {});
  Client client(server);
  client.get("/");
  EXPECT_THAT(client.read_until("}"), StartsWith("HTTP/1.1 500 "));
}

TEST(Server, AnAnswerMayComeLaterAndFromElsewhere) {
  std::jthread thread;
  const Server server({}, any_port(), [&](const Request &request, const Answer &answer) {
    thread = std::jthread([request, answer] {
      std::this_thread::sleep_for(50ms);
      echo(request, answer);
      echo(request, answer);  // only the first counts
    });
  });
  Client client(server);
  client.get("/late", "Connection: close\r\n");
  EXPECT_THAT(client.read_all(), EndsWith("\r\n\r\n/late!"));
}

TEST(Server, AnAnswerWaitsForItsDelay) {
  const Server server({}, any_port(), [](const Request &, const Answer &answer) {
    auto response = error(401, "no");
    response.delay = 300ms;
    answer(std::move(response));
  });
  Client client(server);
  const auto begun = monotonic_now();
  client.get("/");
  EXPECT_THAT(client.read_until("}"), StartsWith("HTTP/1.1 401 "));
  EXPECT_GE(monotonic_now() - begun, 300ms);
}

TEST(Server, ASlowHandlerHoldsUpNobody) {
  std::latch go(1);
  const Server server({.workers = 2}, any_port(), [&](const Request &request, const Answer &answer) {
    if (request.path == "/slow") go.wait();
    echo(request, answer);
  });
  Client slow(server);
  Client quick(server);
  slow.get("/slow");
  quick.get("/quick");
  EXPECT_THAT(quick.read_until("!"), EndsWith("/quick!"));
  go.count_down();
  EXPECT_THAT(slow.read_until("!"), EndsWith("/slow!"));
}

TEST(Server, TooManyConnectionsAreTurnedAway) {
  const Server server({.limits = {.connections = 2}}, any_port(), echo);
  Client one(server);
  Client two(server);
  one.get("/");
  two.get("/");
  one.read_until("!");
  two.read_until("!");
  Client three(server);
  EXPECT_EQ(three.read_all(), "");
  EXPECT_TRUE(three.has_ended());
  one.get("/again");
  EXPECT_THAT(one.read_until("!"), EndsWith("/again!"));
}

TEST(Server, EndsAtOnceWhateverIsOpen) {
  const auto channel = Channel::make();
  auto server =
      std::make_unique<Server>(ServerOptions{}, any_port(), [&](const Request &request, const Answer &answer) {
        if (request.path == "/stream") return answer({.content_type = "text/event-stream", .stream = channel});
        echo(request, answer);
      });
  Client idle(*server);
  Client streaming(*server);
  idle.get("/");
  idle.read_until("!");
  streaming.get("/stream");
  streaming.read_until("\r\n\r\n");
  const auto begun = monotonic_now();
  server.reset();
  EXPECT_LT(monotonic_now() - begun, 100ms);
  idle.read_all();
  EXPECT_TRUE(idle.has_ended());
  channel->publish({.text = std::make_shared<const std::string>("data: x\n\n")});
}

TEST(Server, ListensOnASocketInAFolder) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/http";
  {
    const Server server({}, *listen_on(*parse_address("unix:" + path)),
                        [](const Request &request, const Answer &answer) {
                          EXPECT_TRUE(request.peer.is_loopback);
                          echo(request, answer);
                        });
    EXPECT_EQ(::access(path.c_str(), F_OK), 0);
    const auto taken = listen_on(*parse_address("unix:" + path));
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().line(), HasSubstr("another program listens there"));
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

class Stream : public ::testing::Test {
 protected:
  Limits limits;
  std::atomic<int> left = 0;
  std::shared_ptr<Channel> channel = Channel::make([this] { ++left; });
  std::unique_ptr<Server> server;

  void open() {
    server = std::make_unique<Server>(ServerOptions{.limits = limits}, any_port(),
                                      [this](const Request &, const Answer &answer) {
                                        answer({.content_type = "text/event-stream",
                                                .body = std::make_shared<const std::string>("data: hello\n\n"),
                                                .stream = channel});
                                      });
  }
  void publish(const std::string &data, bool may_be_replaced = false) const {
    channel->publish(
        {.text = std::make_shared<const std::string>(event_text("", data)), .may_be_replaced = may_be_replaced});
  }
  void wait_for(std::size_t subscribers) const {
    const auto limit = monotonic_now() + 5s;
    while (channel->subscribers() != subscribers && monotonic_now() < limit) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(channel->subscribers(), subscribers);
  }
  // The server does one thing after the other: once it has answered, all that was asked of it before is done.
  void wait_for_server() const {
    Client other(*server);
    other.get("/");
    EXPECT_THAT(other.read_until("hello\n\n"), EndsWith("hello\n\n"));
  }
};

TEST_F(Stream, AllGetWhatIsPublished) {
  open();
  Client one(*server);
  Client two(*server);
  one.get("/");
  two.get("/");
  EXPECT_THAT(one.read_until("hello\n\n"), HasSubstr("Content-Type: text/event-stream\r\n"));
  two.read_until("hello\n\n");
  publish("first");
  publish("second");
  EXPECT_EQ(one.read_until("second\n\n"), "data: first\n\ndata: second\n\n");
  EXPECT_EQ(two.read_until("second\n\n"), "data: first\n\ndata: second\n\n");
  EXPECT_EQ(server->counts().streams, 2U);
  channel->close();
  EXPECT_EQ(one.read_all(), "");
  EXPECT_TRUE(one.has_ended());
}

TEST_F(Stream, TellsWhenTheLastHasLeft) {
  open();
  {
    Client one(*server);
    Client two(*server);
    one.get("/");
    two.get("/");
    wait_for(2);
    EXPECT_EQ(left, 0);
  }
  wait_for(0);
  server.reset();
  EXPECT_EQ(left, 1);
}

TEST_F(Stream, AThousandClientsGetTheSameTextAndLeaveNothing) {
  constexpr std::size_t kClients = 1000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < 3 * kClients) GTEST_SKIP() << "too few files may be open";
  limits.streams = kClients;
  limits.connections_per_address = kClients;
  open();
  const auto before = ::mallinfo2().uordblks;
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.push_back(std::make_unique<Client>(*server));
      clients.back()->get("/");
    }
    wait_for(kClients);
    const auto text = std::make_shared<const std::string>(event_text("sample", std::string(4000, 'x'), "1"));
    channel->publish({.text = text, .may_be_replaced = true});
    for (const auto &client : clients) EXPECT_THAT(client->read_until("x\n\n"), EndsWith(*text));
  }
  wait_for(0);
  EXPECT_EQ(server->counts().connections, 0U);
  // Asio keeps what it remembers of a socket for the next one.
  EXPECT_LT(::mallinfo2().uordblks, before + kClients * 300);
}

TEST_F(Stream, ASilentOneHasAHeartbeat) {
  limits.heartbeat = 100ms;
  open();
  Client client(*server);
  client.get("/");
  client.read_until("hello\n\n");
  EXPECT_EQ(client.read_until(": \n\n", 3000ms), ": \n\n");
}

TEST_F(Stream, OneTooManyIsToldToComeAgain) {
  limits.streams = 1;
  open();
  Client one(*server);
  one.get("/");
  one.read_until("hello\n\n");
  Client two(*server);
  two.get("/");
  const auto refused = two.read_until("}");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 10\r\n"));
}

TEST_F(Stream, ASlowClientMissesWhatIsReplaced) {
  open();
  Client client(*server);
  client.get("/");
  client.read_until("hello\n\n");
  wait_for_server();
  const std::string filling(200000, 'x');
  for (int i = 0; i < 200; ++i) publish(std::to_string(i) + ":" + filling, true);
  publish("last", true);
  wait_for_server();
  const auto all = client.read_until("data: last\n\n", 10000ms);
  EXPECT_THAT(all, HasSubstr("data: 0:"));
  EXPECT_THAT(all, EndsWith("data: last\n\n"));
  EXPECT_LT(all.size(), 100 * filling.size());
}

TEST_F(Stream, ASlowClientIsDroppedRatherThanWaitedFor) {
  limits.waiting_frames = 4;
  open();
  Client client(*server);
  client.get("/");
  wait_for(1);
  const std::string filling(1000000, 'x');
  for (int i = 0; i < 50; ++i) publish(filling);
  wait_for(0);
}

TEST(Address, HasOneOfAFewForms) {
  for (const auto *bad : {"", ":", "9837", ":9837", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
                          "::1:9837", "[::1]", "[::1]9837", "unix:", "unix:relative", "off"}) {
    EXPECT_FALSE(parse_address(bad)) << bad;
  }
  for (const auto *near : {"127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "localhost:1", "unix:/x"}) {
    EXPECT_TRUE(parse_address(near).value().is_loopback) << near;
  }
  for (const auto *far : {"0.0.0.0:1", "[::]:1", "192.0.2.1:1"})
    EXPECT_FALSE(parse_address(far).value().is_loopback) << far;
}

TEST(Address, ANameIsNone) {
  for (const auto *yes : {"127.0.0.1", "::1", "[::1]", "fe80::1%eth0"}) EXPECT_TRUE(is_ip_address(yes)) << yes;
  for (const auto *no : {"", "localhost", "127.1", "127.0.0.1.evil.org", "1", "0x7f000001"})
    EXPECT_FALSE(is_ip_address(no)) << no;
}

TEST(Address, OneThatIsTakenIsTold) {
  const auto first = any_port();
  const auto second = listen_on(*parse_address(first.front().name()));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().line(), EndsWith(": another program listens there"));
}

}  // namespace
}  // namespace gpulse::http
