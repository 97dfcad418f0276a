// SPDX-License-Identifier: Apache-2.0
// The client against our own server, and against sockets that do what no server should.
#include "http/client.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "base/clock.hpp"
#include "base/temporary_folder.hpp"
#include "http/gzip.hpp"
#include "http/server.hpp"

namespace gpulse::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<Listener> any_port() { return *listen_on(*parse_address("127.0.0.1:0")); }

// What was asked, as text.
void echo(const Request &request, const Answer &answer) {
  auto text = fmt::format("{} {}", request.path, request.body);
  for (const auto &[name, value] : request.headers) text += fmt::format("\n{}: {}", name, value);
  answer({.content_type = "text/plain", .body = std::make_shared<const std::string>(text + request.peer.certificate)});
}

Url url_of(const std::string &address, bool is_secure = false) {
  return *parse_url((is_secure ? "https://" : "http://") + address + "/x");
}

// Takes one connection after the other; each reads a request's head and gets the next answer.
class Socket {
 public:
  explicit Socket(std::vector<std::string> answers, std::chrono::milliseconds pause = 0ms)
      : listener_(std::move(any_port().front())), thread_([this, answers = std::move(answers), pause] {
          for (const auto &answer : answers) serve(answer, pause);
        }) {}
  ~Socket() { ::shutdown(listener_.fd(), SHUT_RDWR); }

  const std::string &address() const { return listener_.name(); }
  const std::string &asked() {
    thread_.join();
    return asked_;
  }

 private:
  void serve(const std::string &answer, std::chrono::milliseconds pause) {
    int fd = -1;
    while ((fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC)) < 0) {
      if (errno != EAGAIN) return;
      std::this_thread::sleep_for(1ms);
    }
    const UniqueFd socket(fd);
    std::array<char, 4096> room{};
    while (!asked_.ends_with("\r\n\r\n")) {
      const auto bytes = ::recv(fd, room.data(), room.size(), 0);
      if (bytes <= 0) return;
      asked_.append(room.data(), static_cast<std::size_t>(bytes));
    }
    asked_ += "#";
    std::this_thread::sleep_for(pause);
    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::shutdown(fd, SHUT_WR);
    while (::recv(fd, room.data(), room.size(), 0) > 0) {
    }
  }

  Listener listener_;
  std::string asked_;
  std::jthread thread_;
};

Result<ClientResponse> get(const std::string &address, ClientOptions options = {}) {
  return Client(std::move(options)).send({.url = url_of(address)});
}

TEST(Client, KeepsTheConnection) {
  const Server server({}, any_port(), echo);
  Client client({});
  const auto url = url_of(server.addresses().front());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.send({.method = "POST", .url = url, .headers = {{"X-One", "1"}}, .body = "hi"});
    ASSERT_TRUE(answer) << answer.error().line();
    EXPECT_EQ(answer->status, 200);
    EXPECT_THAT(answer->body, StartsWith("/x hi\n"));
    EXPECT_THAT(answer->body, HasSubstr("x-one: 1"));
  }
  EXPECT_EQ(server.counts().connections, 1U);
}

TEST(Client, OpensTheConnectionAgainWhereTheServerHasClosedIt) {
  Socket socket({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"});
  Client client({});
  EXPECT_EQ(client.send({.url = url_of(socket.address())})->body, "a");
  EXPECT_EQ(client.send({.url = url_of(socket.address())})->body, "b");
}

TEST(Client, ReadsEveryKindOfBody) {
  const auto packed = gzip("packed text");
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  Socket socket({ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", ok + "\r\nuntil the end",
                 ok + fmt::format("Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.size()) + packed,
                 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"});
  EXPECT_EQ(get(socket.address())->body, "abc");
  EXPECT_EQ(get(socket.address())->body, "until the end");
  EXPECT_EQ(get(socket.address())->body, "packed text");
  EXPECT_EQ(get(socket.address())->status, 204);
}

TEST(Client, WhatIsNoAnswerIsAnError) {
  const auto bomb = gzip(std::string(100000, 'a'));
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  Socket socket({"garbage\r\n\r\n", "", ok, ok + "Content-Length: 5\r\n\r\nabc", ok + "Content-Length: 5000\r\n\r\n",
                 ok + "\r\n" + std::string(5000, 'a'),
                 ok + fmt::format("Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", bomb.size()) + bomb,
                 ok + "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", ok + "X: " + std::string(200000, 'x')});
  const auto line = [&] { return get(socket.address(), {.most_bytes = 1000}).error().line(); };
  EXPECT_THAT(line(), HasSubstr("no answer of a web server"));
  EXPECT_THAT(line(), HasSubstr("without an answer"));
  EXPECT_THAT(line(), HasSubstr("in the middle"));
  EXPECT_THAT(line(), HasSubstr("in the middle"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(line(), HasSubstr("larger than 1000 bytes"));
  EXPECT_THAT(line(), HasSubstr("gzip"));
  EXPECT_THAT(line(), HasSubstr("no answer of a web server"));
}

TEST(Client, EndsInTimeAndWhenStopped) {
  Socket socket({"", ""}, 1s);
  EXPECT_THAT(get(socket.address(), {.total_time = 50ms}).error().line(), HasSubstr("did not answer in time"));
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  Client client({});
  const auto begin = monotonic_now();
  EXPECT_THAT(client.send({.url = url_of(socket.address())}, stop.get_token()).error().line(),
              HasSubstr("was stopped"));
  EXPECT_LT(monotonic_now() - begin, 10s);
}

TEST(Client, SaysThatNothingListens) {
  std::string address;
  {
    address = any_port().front().name();
  }
  EXPECT_THAT(get(address).error().line(), HasSubstr("nothing listens at " + address));
}

TEST(Client, ReadsASecretAnewForEveryRequest) {
  const Server server({}, any_port(), echo);
  const TemporaryFolder folder;
  folder.write("/secret", "one\n");
  Client client({.bearer_file = folder.path("/secret")});
  const auto url = url_of(server.addresses().front());
  EXPECT_THAT(client.send({.url = url})->body, HasSubstr("authorization: Bearer one"));
  folder.write("/secret", "two");
  EXPECT_THAT(client.send({.url = url})->body, HasSubstr("authorization: Bearer two"));
  folder.write("/secret", "two\nX: y");
  EXPECT_FALSE(client.send({.url = url}));
  EXPECT_THAT(get(server.addresses().front(), {.user = "ann", .password_file = folder.path("/missing")}).error().line(),
              HasSubstr("/missing"));
}

TEST(Client, SendsNoHeaderThatHoldsALineBreak) {
  EXPECT_FALSE(Client({}).send({.url = url_of("127.0.0.1:1"), .headers = {{"X", "a\r\nY: b"}}}));
}

TEST(Client, AsksAProxyForTheWholeAddress) {
  Socket socket({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"});
  const auto answer =
      Client({.proxy = "http://" + socket.address()}).send({.url = *parse_url("http://far.invalid:81/x")});
  EXPECT_EQ(answer->body, "a");
  EXPECT_THAT(socket.asked(), StartsWith("GET http://far.invalid:81/x HTTP/1.1\r\nHost: far.invalid:81\r\n"));
}

TEST(Client, AsksAProxyToConnect) {
  Socket socket({"HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!"});
  Client client({.proxy = "ann:secret@" + socket.address()});
  EXPECT_THAT(client.send({.url = *parse_url("https://far.invalid/x")}).error().line(), HasSubstr("answered 403"));
  EXPECT_THAT(socket.asked(), StartsWith("CONNECT far.invalid:443 HTTP/1.1\r\n"));
}

// An authority, certificates of a server (good, and expired) and of a client.
class ClientTlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<TemporaryFolder>();
    const std::string new_key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(fmt::format("req -x509 {} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem", new_key));
    for (const auto *name : {"good", "old", "client"}) {
      openssl(fmt::format("req -new {} -subj /CN={} -addext subjectAltName=DNS:server.test -keyout {}.key -out {}.csr",
                          new_key, name, name, name));
      const auto days = std::string_view(name) == "old" ? -1 : 2;
      openssl(
          fmt::format("x509 -req -in {}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy -days {} "
                      "-out {}.pem",
                      name, days, name));
    }
  }
  static void TearDownTestSuite() { folder.reset(); }
  static void openssl(const std::string &words) {
    const auto command = fmt::format("cd '{}' && openssl {} 2>openssl.log", folder->path(), words);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  static std::string file(const std::string &name) { return folder->path("/" + name); }
  static Server server(const std::string &name, const std::string &client_ca = {}) {
    const auto tls = load_tls({.certificate = file(name + ".pem"), .key = file(name + ".key"), .client_ca = client_ca});
    return Server({.tls = tls.value()}, any_port(), echo);
  }
  static Result<ClientResponse> ask(const Server &server, ClientOptions options) {
    return Client(std::move(options)).send({.url = url_of(server.addresses().front(), true)});
  }

  inline static std::unique_ptr<TemporaryFolder> folder;
};

TEST_F(ClientTlsTest, TrustsTheAuthorityAndTheName) {
  const auto good = server("good");
  const auto answer = ask(good, {.ca_file = file("ca.pem"), .server_name = "server.test"});
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_THAT(answer->body, StartsWith("/x "));
  EXPECT_THAT(ask(good, {.ca_file = file("ca.pem")}).error().line(),
              HasSubstr("use a name that is in the certificate"));
  EXPECT_THAT(ask(good, {.ca_file = file("ca.pem"), .server_name = "other.test"}).error().line(),
              HasSubstr("not good"));
  EXPECT_THAT(ask(good, {.server_name = "server.test"}).error().line(), HasSubstr("certificate of its authority"));
  EXPECT_TRUE(ask(good, {.verifies = false}));
}

TEST_F(ClientTlsTest, RefusesWhatHasExpired) {
  EXPECT_THAT(ask(server("old"), {.ca_file = file("ca.pem"), .server_name = "server.test"}).error().line(),
              HasSubstr("expired"));
}

TEST_F(ClientTlsTest, ShowsACertificateOfItsOwn) {
  const auto strict = server("good", file("ca.pem"));
  ClientOptions options{.ca_file = file("ca.pem"), .server_name = "server.test"};
  EXPECT_FALSE(ask(strict, options));
  options.certificate = file("client.pem");
  options.key = file("client.key");
  const auto answer = ask(strict, options);
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_THAT(answer->body, HasSubstr("CN=client"));
}

TEST_F(ClientTlsTest, APortWithoutTlsIsAnError) {
  const Server plain({}, any_port(), echo);
  EXPECT_FALSE(ask(plain, {.total_time = 2s}));
}

}  // namespace
}  // namespace gpulse::http
