// SPDX-License-Identifier: Apache-2.0
// The agent's end of its socket: takes connections and whole frames, bounds what each may hold. One thread calls run();
// send() may be called from any.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "share/message.hpp"

namespace gpulse::serve {

// Who is at the other end, as the kernel says.
struct Client {
  std::uint64_t number = 0;
  std::uint32_t pid = 0, user = 0;
};

class SocketServer {
 public:
  static Result<std::unique_ptr<SocketServer>> open(const std::string &path);
  SocketServer(const SocketServer &) = delete;
  SocketServer &operator=(const SocketServer &) = delete;
  ~SocketServer();

  using Handle = std::function<void(const Client &, const share::Frame &)>;
  using Closed = std::function<void(const Client &)>;
  // Until a stop is asked for. Both are called on this thread.
  void run(const std::stop_token &stop, const Handle &handle, const Closed &closed);
  // The answer to a client's request; nothing where it is gone.
  void send(std::uint64_t client, std::vector<std::byte> frame);

 private:
  struct Connection {
    Client client;
    UniqueFd socket;
    std::vector<std::byte> in, out;
    bool waiting = false;  // for the answer to its request: the next one is looked at after that
    bool closing = false;
  };

  SocketServer(std::string path, UniqueFd listener, UniqueFd wake)
      : path_(std::move(path)), listener_(std::move(listener)), wake_(std::move(wake)) {}
  void accept_one();
  static void receive(Connection &connection);
  static void take_request(Connection &connection, const Handle &handle);
  static void flush(Connection &connection);
  void take_answers();

  std::string path_;
  UniqueFd listener_, wake_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_number_ = 1;
  std::mutex mutex_;  // guards the answers
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> answers_;
};

}  // namespace gpulse::serve
