// SPDX-License-Identifier: Apache-2.0
#include "http/loop.hpp"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <vector>

#include "base/log.hpp"
#include "http/asio_context.hpp"

namespace gpulse::http {

Loop::Loop() : context_(std::make_unique<Context>()) {}
Loop::~Loop() = default;

void Loop::post(std::function<void()> work) { boost::asio::post(context_->io, std::move(work)); }

void Loop::after(std::chrono::milliseconds delay, std::function<void()> work) {
  const auto timer = std::make_shared<boost::asio::steady_timer>(context_->io, delay);
  timer->async_wait([timer, work = std::move(work)](const boost::system::error_code &error) {
    if (!error) work();
  });
}

void Loop::make_room_for_sockets(std::size_t count) {
  using Socket = boost::asio::local::stream_protocol::socket;
  std::vector<Socket> sockets;
  sockets.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    boost::system::error_code error;
    sockets.emplace_back(context_->io).open({}, error);
    if (error) return;
  }
}

void Loop::run() {
  while (!context_->io.stopped()) {
    try {
      context_->io.run();
    } catch (const std::exception &fault) {
      log_line(LogLevel::error, std::string("a connection failed: ") + fault.what());
    }
  }
}

void Loop::stop() { context_->io.stop(); }

void Loop::poll() {
  context_->io.restart();
  context_->io.poll();
}

bool Outlet::post(std::function<void()> work, std::chrono::milliseconds delay) {
  const std::lock_guard lock(mutex_);
  if (loop_ == nullptr) return false;
  delay.count() > 0 ? loop_->after(delay, std::move(work)) : loop_->post(std::move(work));
  return true;
}

void Outlet::shut() {
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
}

}  // namespace gpulse::http
