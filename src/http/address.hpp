// SPDX-License-Identifier: Apache-2.0
// Where to listen: "127.0.0.1:9837", "[::1]:9837", "name:9837", "unix:/run/x/http". Names are looked up once. For
// whoever starts a server, before it has threads.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "http/message.hpp"

namespace gpulse::http {

struct Address {
  struct Raw {
    sockaddr_storage bytes{};
    socklen_t size = 0;
  };
  std::string text;         // as it was given
  std::string host;         // the part that names a host
  std::vector<Raw> all{};   // what the name stands for
  bool is_loopback = true;  // nobody but programs of this machine can reach it
};

Result<Address> parse_address(std::string_view text);

// A socket that listens. It takes its file along when it goes, where it has one.
class Listener {
 public:
  Listener(UniqueFd socket, std::string name, std::string file)
      : socket_(std::move(socket)), name_(std::move(name)), file_(std::move(file)) {}
  Listener(Listener &&other) noexcept = default;
  Listener &operator=(Listener &&other) noexcept = default;
  ~Listener();

  int fd() const { return socket_.get(); }
  // "127.0.0.1:9837", with the port that it got where 0 was asked for.
  const std::string &name() const { return name_; }

 private:
  UniqueFd socket_;
  std::string name_;
  std::string file_;
};

Result<std::vector<Listener>> listen_on(const Address &address);

// Who is at the other end of a connection.
Peer peer_of(int fd);

// "10.0.0.7", "::1", "[::1]", "fe80::1%eth0".
bool is_ip_address(std::string_view text);

}  // namespace gpulse::http
