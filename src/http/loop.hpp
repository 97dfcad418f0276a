// SPDX-License-Identifier: Apache-2.0
// The thread on which a server's connections are read and written: nothing on it waits. Internal to src/http.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace gpulse::http {

class Loop {
 public:
  Loop();
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;
  ~Loop();

  // Any thread.
  void post(std::function<void()> work);
  void after(std::chrono::milliseconds delay, std::function<void()> work);
  // Makes now, side by side, what is remembered of sockets for as long as the loop lives. Made one by one among what
  // comes and goes, they would keep a page of memory each. On the loop's thread.
  void make_room_for_sockets(std::size_t count);
  // Until stop() is called.
  void run();
  void stop();
  // What can be done without waiting.
  void poll();

  struct Context;  // http/asio_context.hpp
  Context &context() { return *context_; }

 private:
  std::unique_ptr<Context> context_;
};

// The way to a loop for those who may outlive it.
class Outlet {
 public:
  explicit Outlet(Loop &loop) : loop_(&loop) {}
  // False: the loop is gone.
  bool post(std::function<void()> work, std::chrono::milliseconds delay = {});
  void shut();

 private:
  std::mutex mutex_;
  Loop *loop_;
};

}  // namespace gpulse::http
