// SPDX-License-Identifier: Apache-2.0
#include "share/connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <thread>

#include "base/temporary_folder.hpp"

namespace gpulse::share {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

std::string why(const auto &result) { return result ? "" : result.error().line(); }

// An agent that has one reader and answers each of its requests with what the test says; it hangs up after an empty
// answer.
class FakeAgent {
 public:
  using Answer = std::function<Bytes(const Frame &request)>;

  explicit FakeAgent(Answer answer) : answer_(std::move(answer)) {
    ::chmod(folder_.path().c_str(), 0755);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = folder_.path("/socket");
    std::memcpy(address.sun_path, path.data(), path.size());
    socket_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // NOLINTNEXTLINE(*-reinterpret-cast): the socket's own interface
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
    thread_ = std::jthread([this] { serve(); });
  }

  Place place() const { return {folder_.path(), Trust::named}; }
  Connection connect() const {
    auto connection = Connection::open(place());
    if (!connection) throw std::runtime_error(connection.error().line());
    return std::move(*connection);
  }

 private:
  void serve() {
    const UniqueFd reader(::accept(socket_.get(), nullptr, nullptr));
    Bytes bytes;
    for (;;) {
      Frame request;
      while (next_frame(bytes, kLargestRequest, request) == Framing::whole) {
        const auto answer = answer_(request);
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kFrameHead + request.body.size()));
        if (answer.empty()) return;
        // In two pieces, as a socket may hand it on.
        ::send(reader.get(), answer.data(), 1, MSG_NOSIGNAL);
        ::send(reader.get(), answer.data() + 1, answer.size() - 1, MSG_NOSIGNAL);
      }
      std::array<std::byte, 4096> piece{};
      const auto got = ::recv(reader.get(), piece.data(), piece.size(), 0);
      if (got <= 0) return;
      bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
    }
  }

  Answer answer_;
  TemporaryFolder folder_;
  UniqueFd socket_;
  std::jthread thread_;
};

TEST(Connection, AsksAndGetsItsAnswer) {
  const FakeAgent agent([](const Frame &request) {
    switch (request.kind) {
      case MessageKind::want: {
        const auto want = decode<Want>(request.body);
        return encode(Granted{.interval = want && want->metrics.size() == 1 ? 2 * want->interval : 0s});
      }
      case MessageKind::status: {
        AgentStatus status;
        status.version = "1.2.3";
        return encode(status);
      }
      case MessageKind::details:
        return encode(DetailsAnswer{.age = 1s, .devices = {{.uuid = "GPU-1", .details = {}}}});
      default:
        return encode(MessageKind::done);
    }
  });
  auto connection = agent.connect();
  const MetricSet focus{device_metric("power_draw_watts")};
  EXPECT_EQ(connection.want(50ms, &focus), 100ms);
  EXPECT_EQ(connection.want(50ms, nullptr), 0ms);
  const auto status = connection.status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->version, "1.2.3");
  const auto details = connection.details(focus);
  ASSERT_TRUE(details);
  ASSERT_EQ(details->devices.size(), 1);
  EXPECT_EQ(details->devices[0].uuid, "GPU-1");
  EXPECT_TRUE(connection.release(1min));
  EXPECT_TRUE(connection.resume());
}

TEST(Connection, ARefusalIsTheAgentsOwnSentence) {
  const FakeAgent agent([](const Frame &) { return encode(Refused{.why = "only root may do that"}); });
  auto connection = agent.connect();
  EXPECT_EQ(why(connection.release(1min)), "only root may do that");
  EXPECT_EQ(why(connection.status()), "only root may do that");
}

TEST(Connection, AnAnswerToSomethingElseMakesNoSense) {
  const FakeAgent agent([](const Frame &) { return encode(Granted{.interval = 1s}); });
  auto connection = agent.connect();
  EXPECT_EQ(why(connection.status()), "the agent's answer makes no sense");
}

TEST(Connection, AnAnswerThatIsTooLargeEndsIt) {
  const FakeAgent agent([](const Frame &) { return Bytes(kFrameHead, std::byte{0xFF}); });
  auto connection = agent.connect();
  EXPECT_EQ(why(connection.status()), "the agent's answer makes no sense");
  EXPECT_EQ(why(connection.status()), "the connection to the agent is lost");
}

TEST(Connection, AnAgentThatHangsUpIsLost) {
  const FakeAgent agent([](const Frame &) { return Bytes(); });
  auto connection = agent.connect();
  EXPECT_EQ(why(connection.status()), "the agent has closed the connection");
  EXPECT_EQ(why(connection.status()), "the connection to the agent is lost");  // without a signal
}

TEST(Connection, SaysWhyThereIsNone) {
  const TemporaryFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(why(Connection::open({folder.path(), Trust::named})),
            "the agent's socket " + folder.path("/socket") + " cannot be reached: No such file or directory");
  folder.write("/socket", "");
  EXPECT_THAT(why(Connection::open({folder.path(), Trust::named})), HasSubstr("cannot be reached: Connection refused"));
  ::chmod(folder.path().c_str(), 0777);
  EXPECT_THAT(why(Connection::open({folder.path(), Trust::named})), HasSubstr("can be written by others"));
  const auto deep = folder.path("/" + std::string(100, 'x'));
  std::filesystem::create_directory(deep);
  EXPECT_THAT(why(Connection::open({deep, Trust::named})), HasSubstr("is too long for a socket"));
}

}  // namespace
}  // namespace gpulse::share
