// SPDX-License-Identifier: Apache-2.0
#include "serve/socket_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace gpulse::serve {

namespace {

constexpr std::size_t kMostClients = 512;
constexpr std::size_t kMostOfOneUser = 256;
constexpr int kBacklog = 64;

UniqueFd event_fd() { return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

}  // namespace

Result<std::unique_ptr<SocketServer>> SocketServer::open(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return failure(fmt::format("the path {} is too long for a socket", path));
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  UniqueFd wake = event_fd();
  if (!listener || !wake) return failure(fmt::format("no socket: {}", std::strerror(errno)));
  ::unlink(path.c_str());  // of one that was killed; the place is ours
  // NOLINTNEXTLINE(*-reinterpret-cast): the socket's own interface
  const bool bound = ::bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0;
  // Everybody may ask; what for is decided request by request.
  if (!bound || ::chmod(path.c_str(), 0666) != 0 || ::listen(listener.get(), kBacklog) != 0)
    return failure(fmt::format("cannot listen on {}: {}", path, std::strerror(errno)));
  return std::unique_ptr<SocketServer>(new SocketServer(path, std::move(listener), std::move(wake)));
}

SocketServer::~SocketServer() { ::unlink(path_.c_str()); }

void SocketServer::accept_one() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  const auto same_user = [&](const auto &each) { return each.second.client.user == peer.uid; };
  if (connections_.size() >= kMostClients ||
      std::ranges::count_if(connections_, same_user) >= std::ptrdiff_t{kMostOfOneUser})
    return;
  const auto number = next_number_++;
  auto &connection = connections_[number];
  connection.client = {.number = number, .pid = static_cast<std::uint32_t>(peer.pid), .user = peer.uid};
  connection.socket = std::move(socket);
}

void SocketServer::receive(Connection &connection) {
  std::array<std::byte, 16384> piece;  // NOLINT(*-member-init): filled by recv()
  const auto got = ::recv(connection.socket.get(), piece.data(), piece.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    connection.closing = true;
    return;
  }
  connection.in.insert(connection.in.end(), piece.begin(), piece.begin() + got);
}

// One at a time: answers to many could not be bounded.
void SocketServer::take_request(Connection &connection, const Handle &handle) {
  if (connection.waiting || connection.closing || !connection.out.empty()) return;
  auto &in = connection.in;
  share::Frame frame;
  const auto framing = share::next_frame(in, share::kLargestRequest, frame);
  if (framing == share::Framing::too_large) connection.closing = true;
  if (framing != share::Framing::whole) return;
  const auto used = share::kFrameHead + frame.body.size();
  connection.waiting = true;
  handle(connection.client, frame);
  in.erase(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(used));
}

void SocketServer::flush(Connection &connection) {
  auto &out = connection.out;
  while (!out.empty()) {
    const auto sent = ::send(connection.socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      connection.closing = connection.closing || errno != EAGAIN;
      return;
    }
    out.erase(out.begin(), out.begin() + sent);
  }
}

void SocketServer::send(std::uint64_t client, std::vector<std::byte> frame) {
  {
    const std::lock_guard lock(mutex_);
    answers_.emplace_back(client, std::move(frame));
  }
  ::eventfd_write(wake_.get(), 1);
}

void SocketServer::take_answers() {
  eventfd_t unused = 0;
  ::eventfd_read(wake_.get(), &unused);
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (auto &[number, frame] : answers) {
    const auto found = connections_.find(number);
    if (found == connections_.end()) continue;
    found->second.out = std::move(frame);
    found->second.waiting = false;
    flush(found->second);
  }
}

void SocketServer::run(const std::stop_token &stop, const Handle &handle, const Closed &closed) {
  const std::stop_callback wake(stop, [this] { ::eventfd_write(wake_.get(), 1); });
  std::vector<pollfd> watched;
  std::vector<std::uint64_t> numbers;
  while (!stop.stop_requested()) {
    watched.assign(
        {{.fd = wake_.get(), .events = POLLIN, .revents = 0}, {.fd = listener_.get(), .events = POLLIN, .revents = 0}});
    numbers.clear();
    for (const auto &[number, connection] : connections_) {
      // First the answer, then the next request.
      const short events = !connection.out.empty() ? POLLOUT : connection.waiting ? 0 : POLLIN;
      watched.push_back({.fd = connection.socket.get(), .events = events, .revents = 0});
      numbers.push_back(number);
    }
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto &connection = connections_[numbers[i]];
      const auto happened = watched[i + 2].revents;
      if ((happened & POLLOUT) != 0) flush(connection);
      if ((happened & (POLLIN | POLLHUP | POLLERR)) != 0) receive(connection);
    }
    if (watched[0].revents != 0) take_answers();
    for (auto &[number, connection] : connections_) take_request(connection, handle);
    if (watched[1].revents != 0) accept_one();
    std::erase_if(connections_, [&](const auto &each) {
      if (each.second.closing) closed(each.second.client);
      return each.second.closing;
    });
  }
}

}  // namespace gpulse::serve
