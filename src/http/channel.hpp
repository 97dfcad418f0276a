// SPDX-License-Identifier: Apache-2.0
// Server-sent events for any number of clients: each event is text once, which all of them share. Whoever answers a
// request hands a channel to it as Response::stream; the channel lives as long as somebody has it, a client included.
// publish() and subscribers() on any thread, what the server calls on its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace gpulse::http {

class Outlet;

// One event. A newer one takes the place of an older one that a slow client has not been sent yet, where both may be
// replaced; else it is dropped when too many wait for it.
struct Frame {
  std::shared_ptr<const std::string> text;
  bool may_be_replaced = false;
};

// "id: …", "event: …" and a "data: …" for each line, as the browser reads it. Line breaks in id and name are left out.
std::string event_text(std::string_view name, std::string_view data, std::string_view id = {});

// A client's end, for the server.
class Subscriber {
 public:
  Subscriber() = default;
  Subscriber(const Subscriber &) = delete;
  Subscriber &operator=(const Subscriber &) = delete;
  virtual ~Subscriber() = default;
  virtual void take(const Frame &frame) = 0;
  // Nothing more will come.
  virtual void end() = 0;
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  // `left` is called on the server's thread when the last client has gone, and must be quick.
  static std::shared_ptr<Channel> make(std::function<void()> left = {});
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;
  ~Channel() = default;

  // To all who are there now. What is published after an answer with this channel was given reaches that client too.
  void publish(Frame frame);
  // Ends every stream once what was published before has been sent.
  void close();
  std::size_t subscribers() const { return count_; }

  // By the server.
  void open_to(const std::shared_ptr<Outlet> &outlet);
  void add(const std::shared_ptr<Subscriber> &subscriber);
  void remove(const Subscriber *subscriber);

 private:
  explicit Channel(std::function<void()> left) : left_(std::move(left)) {}
  void on_server(std::function<void(Subscriber &)> act);

  const std::function<void()> left_;
  std::atomic<std::size_t> count_ = 0;
  std::mutex mutex_;
  std::shared_ptr<Outlet> outlet_;                        // guarded by the mutex
  std::vector<std::shared_ptr<Subscriber>> subscribers_;  // of the server's thread alone
};

}  // namespace gpulse::http
