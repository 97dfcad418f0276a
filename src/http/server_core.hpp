// SPDX-License-Identifier: Apache-2.0
// What a server's connections share: limits, handler, workers, and the list of them all. Internal to src/http; on the
// loop's thread unless said otherwise.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/slab.hpp"
#include "http/gzip.hpp"
#include "http/limits.hpp"
#include "http/loop.hpp"
#include "http/message.hpp"
#include "http/session.hpp"
#include "http/tls.hpp"
#include "http/workers.hpp"

namespace gpulse::http {

class ServerCore {
 public:
  // Without workers the handler is called on the loop's thread.
  ServerCore(const Limits &limits, Handler handler, std::size_t workers);
  ServerCore(const ServerCore &) = delete;
  ServerCore &operator=(const ServerCore &) = delete;
  // What is still open is closed; nothing may be running on the loop any more.
  ~ServerCore();

  Loop &loop() { return loop_; }
  const Limits &limits() const { return limits_; }

  // A connection that has been accepted.
  void adopt(UniqueFd socket, const std::shared_ptr<const TlsContext> &tls);
  // Ends every connection, and takes no more.
  void stop();
  void close_all();
  bool is_stopping() const { return stopping_; }

  // For sessions.
  void handle(const std::shared_ptr<Session> &session, Head head);
  Prepared prepare(Response response, const Asked &asked);  // any thread
  bool may_stream() const { return streams_ < limits_.streams; }
  void stream_began() { ++streams_; }
  void stream_ended() { --streams_; }
  void remove(const std::shared_ptr<Session> &session);

  // Any thread.
  std::size_t connections() const { return connections_; }
  std::size_t streams() const { return streams_; }
  std::uint64_t requests() const { return requests_; }

 private:
  bool has_room(const Peer &peer) const;
  void sweep();
  void keep_sweeping();

  const Limits limits_;
  const Handler handler_;
  Loop loop_;
  const std::shared_ptr<Outlet> outlet_;
  const std::shared_ptr<GzipCache> gzip_ = std::make_shared<GzipCache>();
  // Where connections lie, and nothing else.
  const std::shared_ptr<Slab> session_slab_ = std::make_shared<Slab>(), transport_slab_ = std::make_shared<Slab>();
  std::vector<std::shared_ptr<Session>> sessions_;
  std::map<std::string, std::size_t> per_address_;
  std::atomic<std::size_t> connections_ = 0, streams_ = 0;
  std::atomic<std::uint64_t> requests_ = 0;
  std::size_t most_connections_ = 0;  // since the heap was trimmed
  std::size_t room_ = 0;              // sockets that the loop has made room for
  bool sweeping_ = false;
  bool stopping_ = false;
  std::unique_ptr<Workers> workers_;  // the first to end: it uses the rest
};

}  // namespace gpulse::http
