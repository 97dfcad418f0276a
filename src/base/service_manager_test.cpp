// SPDX-License-Identifier: Apache-2.0
#include "base/service_manager.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "base/temporary_folder.hpp"
#include "base/unique_fd.hpp"

namespace gpulse {
namespace {

using namespace std::chrono_literals;

// The manager's end, at a path or, with a leading '@', under a name.
class Listener {
 public:
  explicit Listener(const std::string &name)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(static_cast<char *>(address.sun_path), sizeof address.sun_path - 1);
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr *>(&address), length) != 0) socket_.reset();
  }

  bool listens() const { return static_cast<bool>(socket_); }
  std::string next() const {
    std::array<char, 8192> message{};
    const auto size = ::recv(socket_.get(), message.data(), message.size(), 0);
    return size < 0 ? "nothing" : std::string(message.data(), static_cast<std::size_t>(size));
  }

 private:
  UniqueFd socket_;
};

// As the manager starts a service; gone from the environment at the end.
class ServiceManagerTest : public testing::Test {
 protected:
  static void set(const char *name, const std::string &value) { ::setenv(name, value.c_str(), 1); }
  static ServiceManager started_with(const std::string &socket) {
    set("NOTIFY_SOCKET", socket);
    return ServiceManager::from_environment();
  }
  void SetUp() override { forget(); }
  void TearDown() override { forget(); }
  std::string path() const { return folder_.path("/notify"); }

 private:
  static void forget() {
    for (const auto *name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }
  TemporaryFolder folder_;
};

TEST_F(ServiceManagerTest, IsToldOfTheLifeOfAService) {
  const Listener listener(path());
  ASSERT_TRUE(listener.listens());
  const auto manager = started_with(path());

  EXPECT_TRUE(manager.ready());
  EXPECT_EQ(listener.next(), "READY=1");
  EXPECT_TRUE(manager.status("8 GPUs, one sample per second"));
  EXPECT_EQ(listener.next(), "STATUS=8 GPUs, one sample per second");
  EXPECT_TRUE(manager.alive());
  EXPECT_EQ(listener.next(), "WATCHDOG=1");
  EXPECT_TRUE(manager.reloading(Monotonic(1234567890ns)));
  EXPECT_EQ(listener.next(), "RELOADING=1\nMONOTONIC_USEC=1234567");
  EXPECT_TRUE(manager.stopping());
  EXPECT_EQ(listener.next(), "STOPPING=1");
  EXPECT_EQ(listener.next(), "nothing");
}

TEST_F(ServiceManagerTest, ListensUnderANameAsWell) {
  const auto name = fmt::format("@gpulse-test-{}", ::getpid());
  const Listener listener(name);
  ASSERT_TRUE(listener.listens());
  EXPECT_TRUE(started_with(name).ready());
  EXPECT_EQ(listener.next(), "READY=1");
}

TEST_F(ServiceManagerTest, NoStatusCanSayAnythingElse) {
  const Listener listener(path());
  const auto manager = started_with(path());
  EXPECT_TRUE(manager.status("GPU 0\nSTOPPING=1\xff"));
  EXPECT_EQ(listener.next(), "STATUS=GPU 0 STOPPING=1\uFFFD");
  EXPECT_TRUE(manager.status(std::string(2047, 'x') + std::string(100'000, '\xff')));
  EXPECT_EQ(listener.next(), "STATUS=" + std::string(2047, 'x')) << "systemd ignores what is longer than 4096 bytes";
}

TEST_F(ServiceManagerTest, WhoWasNotStartedByOneHasNothingToSay) {
  for (const auto &manager :
       {ServiceManager(), ServiceManager::from_environment(), started_with(""), started_with("@"),
        started_with("relative"), started_with("vsock:2:1234"), started_with("/" + std::string(107, 'x'))}) {
    EXPECT_TRUE(manager.ready());
    EXPECT_TRUE(manager.reloading());
    EXPECT_TRUE(manager.stopping());
    EXPECT_TRUE(manager.status("busy"));
    EXPECT_TRUE(manager.alive());
    EXPECT_EQ(manager.alive_interval(), std::nullopt);
  }
}

TEST_F(ServiceManagerTest, IsNotWaitedFor) {
  const auto manager = started_with(path());
  EXPECT_FALSE(manager.ready()) << "nobody listens";

  const Listener listener(path());
  int told = 0;
  while (manager.alive()) ASSERT_LT(++told, 1'000'000) << "the queue of a socket has an end";
  EXPECT_GT(told, 0);
  EXPECT_FALSE(manager.ready()) << "there is no room";
  EXPECT_EQ(listener.next(), "WATCHDOG=1");
  EXPECT_TRUE(manager.ready()) << "there is room again";
}

TEST_F(ServiceManagerTest, IsToldTwiceInTheTimeItWaits) {
  set("WATCHDOG_USEC", "30000000");
  EXPECT_EQ(started_with(path()).alive_interval(), 15s);
  set("WATCHDOG_PID", std::to_string(::getpid()));
  EXPECT_EQ(started_with(path()).alive_interval(), 15s);
}

TEST_F(ServiceManagerTest, WatchesNobodyElseAndNoTimeThatIsNone) {
  for (const auto *time : {"", "0", "1", "-30", "soon", "30s", "99999999999999999999"}) {
    set("WATCHDOG_USEC", time);
    EXPECT_EQ(started_with(path()).alive_interval(), std::nullopt) << time;
  }
  set("WATCHDOG_USEC", "30000000");
  for (const auto &process : {std::to_string(::getppid()), std::string("me")}) {
    set("WATCHDOG_PID", process);
    EXPECT_EQ(started_with(path()).alive_interval(), std::nullopt) << process;
  }
}

}  // namespace
}  // namespace gpulse
