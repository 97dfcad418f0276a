// SPDX-License-Identifier: Apache-2.0
// One connection as bytes, with TLS or without. Internal to src/http; on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/slab.hpp"
#include "base/unique_fd.hpp"
#include "http/loop.hpp"
#include "http/message.hpp"
#include "http/tls.hpp"

namespace gpulse::http {

class Transport {
 public:
  using Read = std::move_only_function<void(std::size_t)>;  // 0: nothing more will come
  using Done = std::move_only_function<void(bool)>;

  Transport() = default;
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;
  virtual ~Transport() = default;

  // Each calls back later, also when the connection is closed meanwhile. What is read into or written must last so
  // long.
  virtual void handshake(Done done) = 0;
  virtual void read(std::span<char> room, Read done) = 0;
  // One behind the other, all of both.
  virtual void write(std::string_view first, std::string_view second, Done done) = 0;
  // Nothing more will be written.
  virtual void finish(Done done) = 0;
  virtual void close() = 0;

  virtual const Peer &peer() const = 0;
};

// Without TLS it lies in the slab, with all that it needs to read and write.
std::shared_ptr<Transport> make_transport(Loop &loop, UniqueFd socket, const std::shared_ptr<const TlsContext> &tls,
                                          const std::shared_ptr<Slab> &slab);

}  // namespace gpulse::http
