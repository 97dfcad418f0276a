// SPDX-License-Identifier: Apache-2.0
#include "http/server.hpp"

#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <list>
#include <thread>

#include "base/log.hpp"
#include "http/asio_context.hpp"
#include "http/server_core.hpp"

namespace gpulse::http {

namespace {

using namespace std::chrono_literals;
using Waiter = boost::asio::posix::stream_descriptor;

// Where no file can be opened any more, the next try must not come at once.
constexpr auto kPause = 200ms;
// The others get their turn in between.
constexpr int kMostAtOnce = 64;

}  // namespace

struct Server::Parts {
  Parts(const ServerOptions &options, Handler handler)
      : tls(options.tls), core(options.limits, std::move(handler), options.workers) {}

  void wait(Waiter &waiter) {
    waiter.async_wait(Waiter::wait_read, [this, &waiter](const boost::system::error_code &error) {
      if (!error) accept(waiter);
    });
  }

  void accept(Waiter &waiter) {
    for (int i = 0; i < kMostAtOnce; ++i) {
      UniqueFd socket(::accept4(waiter.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket) {
        core.adopt(std::move(socket), tls);
        continue;
      }
      const bool is_empty = errno == EAGAIN || errno == EWOULDBLOCK;
      const bool is_over = errno == ECONNABORTED || errno == EINTR || errno == EPROTO;
      if (is_over) continue;
      if (is_empty) break;
      return core.loop().after(kPause, [this, &waiter] { wait(waiter); });
    }
    wait(waiter);
  }

  std::vector<Listener> listeners;
  std::shared_ptr<const TlsContext> tls;  // of the loop's thread
  ServerCore core;
  std::list<Waiter> waiters;
  std::jthread thread;
};

Server::Server(const ServerOptions &options, std::vector<Listener> listeners, Handler handler)
    : parts_(std::make_unique<Parts>(options, std::move(handler))) {
  parts_->listeners = std::move(listeners);
  for (const auto &listener : parts_->listeners) {
    auto &waiter = parts_->waiters.emplace_back(parts_->core.loop().context().io);
    // The listener closes it.
    waiter.assign(listener.fd());
    parts_->wait(waiter);
  }
  parts_->thread = std::jthread([this] { parts_->core.loop().run(); });
}

Server::~Server() {
  parts_->core.loop().post([this] {
    for (auto &waiter : parts_->waiters) static_cast<void>(waiter.release());
    parts_->core.stop();
    parts_->core.loop().stop();
  });
  parts_->thread.join();
}

void Server::set_tls(std::shared_ptr<const TlsContext> tls) {
  parts_->core.loop().post([this, tls = std::move(tls)] { parts_->tls = tls; });
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> all;
  for (const auto &listener : parts_->listeners) all.push_back(listener.name());
  return all;
}

Server::Counts Server::counts() const {
  return {.connections = parts_->core.connections(),
          .streams = parts_->core.streams(),
          .requests = parts_->core.requests()};
}

}  // namespace gpulse::http
