// SPDX-License-Identifier: Apache-2.0
// One connection, from its first byte to its last. Internal to src/http; all of it on the loop's thread.
//
//   start ─► handshake ─► read head ─► read body ─► handle ─► write ─► read head …
//                            │             │                    └────► stream: frames, until one side ends
//                            └─ refused ───┴─► write ─► linger ─► close
//
// Each of these has a time by which it must be over; the server looks once a second.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "http/answer.hpp"
#include "http/channel.hpp"
#include "http/parse_request.hpp"
#include "http/transport.hpp"

namespace gpulse::http {

class ServerCore;

class Session final : public Subscriber, public std::enable_shared_from_this<Session> {
 public:
  Session(ServerCore &core, std::shared_ptr<Transport> transport);

  void start();
  void send(Prepared answer);
  void close();
  // What is over its time ends; a silent stream gets its heartbeat.
  void sweep(Monotonic now);
  // A connection that waits for a request, and one that streams, can end without anybody missing an answer.
  bool is_streaming() const { return channel_ != nullptr; }
  const Peer &peer() const { return transport_->peer(); }
  // Where it is in the server's list.
  std::size_t place() const { return place_; }
  void set_place(std::size_t place) { place_ = place; }

  void take(const Frame &frame) override;
  void end() override;

 private:
  void read_head();
  void look_at_head();
  void read_body(std::size_t bytes);
  void handle();
  void refuse(const Refusal &refusal);
  void write(Prepared answer);
  void written();
  void begin_stream();
  void write_frame();
  void watch_for_end();
  void linger();
  void drain(std::size_t left);
  void allow(std::chrono::milliseconds time) { deadline_ = monotonic_now() + time; }

  ServerCore &core_;
  std::shared_ptr<Transport> transport_;
  std::string in_;  // what has come and is not used yet
  Head head_;
  Prepared out_;
  std::shared_ptr<Channel> channel_;  // of a stream
  Frame writing_;                     // no text: none is
  std::vector<Frame> waiting_;        // behind it
  std::array<char, 64> dropped_{};    // what a client sends where nothing is to be said
  Monotonic deadline_ = Monotonic::max();
  Monotonic last_frame_{};
  std::size_t place_ = 0;
  bool closed_ = false;
  bool lingers_ = false;
  bool ends_after_frames_ = false;
};

}  // namespace gpulse::http
