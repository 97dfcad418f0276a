// SPDX-License-Identifier: Apache-2.0
#include "share/connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"

namespace gpulse::share {

namespace {

// An agent that reads details answers within this, whatever hangs.
constexpr timeval kPatience{.tv_sec = 4, .tv_usec = 0};

// One that lets go of its drivers, which may have to wait for them.
constexpr timeval kPatienceToClose{.tv_sec = 8, .tv_usec = 0};

void be_patient(const UniqueFd &socket, const timeval &time) {
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

Result<UniqueFd> connect_to(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return failure(fmt::format("the path {} is too long for a socket", path));
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return failure(fmt::format("no socket: {}", std::strerror(errno)));
  be_patient(socket, kPatience);
  // NOLINTNEXTLINE(*-reinterpret-cast): the socket's own interface
  if (::connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
    return failure(fmt::format("the agent's socket {} cannot be reached: {}", path, std::strerror(errno)));
  return socket;
}

Error no_sense() { return {"the agent's answer makes no sense"}; }

}  // namespace

Result<Connection> Connection::open(const Place &place) {
  if (auto good = check_folder(place); !good) return std::unexpected(good.error());
  auto socket = connect_to(place.folder + "/" + kSocketFile);
  if (!socket) return std::unexpected(socket.error());
  return Connection(std::move(*socket));
}

Result<Frame> Connection::exchange(std::span<const std::byte> request) {
  const auto lost = [&](int error) -> Result<Frame> {
    // An answer that comes too late must not be taken for that to the next request.
    socket_.reset();
    if (error == EAGAIN) return failure("the agent does not answer");
    // Which of these it is depends on who was faster.
    if (error == EPIPE || error == ECONNRESET) return failure("the agent has closed the connection");
    return failure(fmt::format("the connection to the agent is lost: {}", std::strerror(error)));
  };
  if (!socket_) return failure("the connection to the agent is lost");
  while (!request.empty()) {
    const auto sent = ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return lost(errno);
    request = request.subspan(static_cast<std::size_t>(sent));
  }
  answer_.clear();
  Frame frame;
  for (;;) {
    const auto framing = next_frame(answer_, kLargestAnswer, frame);
    if (framing == Framing::whole) return frame;
    if (framing == Framing::too_large) {
      socket_.reset();
      return std::unexpected(no_sense());
    }
    std::array<std::byte, 65536> piece;  // NOLINT(*-member-init): filled by recv()
    const auto got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return lost(got == 0 ? ECONNRESET : errno);
    answer_.insert(answer_.end(), piece.begin(), piece.begin() + got);
  }
}

template <class Answer>
Result<Answer> Connection::ask(std::span<const std::byte> request, MessageKind kind) {
  const auto frame = exchange(request);
  if (!frame) return std::unexpected(frame.error());
  if (frame->kind == MessageKind::refused) {
    const auto refused = decode<Refused>(frame->body);
    return std::unexpected(refused ? Error{refused->why} : no_sense());
  }
  if (frame->kind != kind) return std::unexpected(no_sense());
  if constexpr (std::is_void_v<Answer>) {
    return {};
  } else {
    auto answer = decode<Answer>(frame->body);
    if (!answer) return std::unexpected(no_sense());
    return std::move(*answer);
  }
}

Result<std::chrono::nanoseconds> Connection::want(std::chrono::nanoseconds interval, const MetricSet *focus) {
  Want message{.program = "gpulse", .interval = interval};
  if (focus != nullptr) message.metrics = metric_keys(*focus);
  const auto granted = ask<Granted>(encode(message), MessageKind::granted);
  if (!granted) return std::unexpected(granted.error());
  return granted->interval;
}

Result<DetailsAnswer> Connection::details(const MetricSet &set) {
  return ask<DetailsAnswer>(encode(DetailsRequest{metric_keys(set)}), MessageKind::details_answer);
}

Result<AgentStatus> Connection::status() {
  return ask<AgentStatus>(encode(MessageKind::status), MessageKind::status_answer);
}

Result<AlertsAnswer> Connection::alerts() {
  return ask<AlertsAnswer>(encode(MessageKind::alerts), MessageKind::alerts_answer);
}

Result<void> Connection::silence(const SilenceRequest &request) {
  return ask<void>(encode(request), MessageKind::done);
}

Result<void> Connection::release(std::chrono::nanoseconds time) {
  be_patient(socket_, kPatienceToClose);
  return ask<void>(encode(Release{time}), MessageKind::done);
}

Result<void> Connection::resume() { return ask<void>(encode(MessageKind::resume), MessageKind::done); }

}  // namespace gpulse::share
