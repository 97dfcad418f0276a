// SPDX-License-Identifier: Apache-2.0
#include "http/client_connection.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "http/look_up.hpp"

namespace gpulse::http {

namespace {

// 0 or the error with which it failed; ETIMEDOUT also where the time is over.
int connect_to(int socket, const Address::Raw &raw, const TimeLimit &limit, Monotonic until) {
  if (::connect(socket, reinterpret_cast<const sockaddr *>(&raw.bytes), raw.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!limit.wait(socket, POLLOUT, until)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

Error unreachable(const std::string &name, int error, const TimeLimit &limit) {
  if (error == ETIMEDOUT) return too_late(name, limit);
  if (error == ECONNREFUSED) {
    return {fmt::format("nothing listens at {}", name), "check the address, and that the server runs"};
  }
  return {fmt::format("{} cannot be reached: {}", name, std::strerror(error)), "check the address and the network"};
}

}  // namespace

Error too_late(const std::string &name, const TimeLimit &limit) {
  if (limit.stop().stop_requested()) return {fmt::format("the request to {} was stopped", name), "ask again"};
  return {fmt::format("{} did not answer in time", name), "check the address, the network and the server"};
}

Result<ClientConnection> ClientConnection::open(const std::string &host, std::uint16_t port, const TimeLimit &limit) {
  const auto name = fmt::format("{}:{}", host, port);
  const auto all = look_up(host, port, limit);
  if (!all && limit.stop().stop_requested()) return std::unexpected(too_late(name, limit));
  if (!all) return std::unexpected(all.error());
  int error = EADDRNOTAVAIL;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto &raw = (*all)[i];
    UniqueFd socket(::socket(raw.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      error = errno;
      continue;
    }
    // An address that swallows packets must leave time for the next one.
    const auto now = monotonic_now();
    const auto share = (limit.end() - now) / static_cast<int>(all->size() - i);
    error = connect_to(socket.get(), raw, limit, now + share);
    if (error != 0) continue;
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return ClientConnection(std::move(socket), name);
  }
  return std::unexpected(unreachable(name, error, limit));
}

bool ClientConnection::wait_for_tls(int result, const TimeLimit &limit) const {
  switch (::SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return limit.wait(socket_.get(), POLLIN);
    case SSL_ERROR_WANT_WRITE:
      return limit.wait(socket_.get(), POLLOUT);
    default:
      return false;
  }
}

std::unexpected<Error> ClientConnection::lost(const TimeLimit &limit) const {
  if (limit.stop().stop_requested() || monotonic_now() >= limit.end()) return std::unexpected(too_late(name_, limit));
  // Since TLS 1.3 a server that wants another certificate says so only after the handshake.
  const auto *why = tls_ != nullptr ? ::ERR_reason_error_string(::ERR_peek_last_error()) : nullptr;
  if (why == nullptr) return failure(fmt::format("the connection to {} broke", name_), "see the server's log");
  return failure(fmt::format("the connection to {} broke: {}", name_, why), "check what it asks of clients");
}

Result<void> ClientConnection::secure(ClientTls &tls, const ClientOptions &options, const std::string &host,
                                      const TimeLimit &limit) {
  auto session = tls.begin(options, host, socket_.get());
  if (!session) return std::unexpected(session.error());
  tls_ = std::move(*session);
  while (true) {
    ::ERR_clear_error();
    const int result = ::SSL_connect(tls_.get());
    if (result == 1) return {};
    if (wait_for_tls(result, limit)) continue;
    if (limit.stop().stop_requested() || monotonic_now() >= limit.end()) return std::unexpected(too_late(name_, limit));
    return std::unexpected(handshake_error(tls_.get(), name_));
  }
}

Result<void> ClientConnection::write(std::string_view bytes, const TimeLimit &limit) {
  while (!bytes.empty()) {
    std::size_t done = 0;
    if (tls_ != nullptr) {
      ::ERR_clear_error();
      const int result = ::SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &done);
      if (result != 1 && !wait_for_tls(result, limit)) return lost(limit);
    } else {
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      const bool waits = sent < 0 && (errno == EAGAIN || errno == EINTR);
      if (sent < 0 && !(waits && limit.wait(socket_.get(), POLLOUT))) return lost(limit);
      done = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
    bytes.remove_prefix(done);
  }
  return {};
}

Result<std::size_t> ClientConnection::read(std::span<char> room, const TimeLimit &limit) {
  while (true) {
    if (limit.stop().stop_requested() || monotonic_now() >= limit.end()) return lost(limit);
    if (tls_ != nullptr) {
      std::size_t bytes = 0;
      ::ERR_clear_error();
      const int result = ::SSL_read_ex(tls_.get(), room.data(), room.size(), &bytes);
      if (result == 1) return bytes;
      if (::SSL_get_error(tls_.get(), result) == SSL_ERROR_ZERO_RETURN) return 0;
      if (!wait_for_tls(result, limit)) return lost(limit);
    } else {
      const auto bytes = ::recv(socket_.get(), room.data(), room.size(), 0);
      if (bytes >= 0) return static_cast<std::size_t>(bytes);
      const bool waits = errno == EAGAIN || errno == EINTR;
      if (!waits || !limit.wait(socket_.get(), POLLIN)) return lost(limit);
    }
  }
}

bool ClientConnection::is_usable() const {
  pollfd state{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&state, 1, 0) == 0;
}

}  // namespace gpulse::http
