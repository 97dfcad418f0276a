// SPDX-License-Identifier: Apache-2.0
#include "kube/grpc_call.hpp"

#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace gpulse::kube {

namespace {

constexpr std::size_t kHead = 5;  // before a message: whether it is compressed, and its size

struct SessionEnd {
  void operator()(nghttp2_session *session) const { nghttp2_session_del(session); }
};
struct CallbacksEnd {
  void operator()(nghttp2_session_callbacks *callbacks) const { nghttp2_session_callbacks_del(callbacks); }
};
Result<UniqueFd> connect_to(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return failure("the path of the socket is too long");
  path.copy(address.sun_path, path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // A socket of this machine connects at once, or its queue is full.
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0) {
    return failure("cannot connect to " + path, std::strerror(errno));
  }
  return fd;
}

std::string with_head(std::string_view message) {
  std::string framed(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) framed += static_cast<char>((message.size() >> shift) & 0xFFU);
  return framed.append(message);
}

class Connection {
 public:
  Connection(const GrpcCall &call, UniqueFd fd) : call_(call), fd_(std::move(fd)), request_(with_head(call.message)) {}
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;
  ~Connection() = default;

  Result<std::string> run(Monotonic deadline) {
    if (!begin()) return failure("the call cannot be made");
    while (!ended_) {
      if (nghttp2_session_send(session_.get()) != 0) return failure("the connection broke");
      if (ended_) break;
      if (const auto done = wait(deadline); !done) return std::unexpected(done.error());
      if (nghttp2_session_recv(session_.get()) != 0 && !ended_) return failure("the connection broke");
    }
    return answer();
  }

 private:
  static Connection &self(void *user) { return *static_cast<Connection *>(user); }

  bool begin();
  void add_callbacks(nghttp2_session_callbacks *callbacks);

  Result<void> wait(Monotonic deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_now()).count();
    if (left <= 0) return failure("no answer in time");
    const short wanted = nghttp2_session_want_write(session_.get()) != 0 ? POLLIN | POLLOUT : POLLIN;
    pollfd one{.fd = fd_.get(), .events = wanted, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return failure("the connection broke");
    return {};
  }

  ssize_t send(const std::uint8_t *data, std::size_t size) const {
    const auto sent = ::send(fd_.get(), data, size, MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EINTR ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  ssize_t receive(std::uint8_t *data, std::size_t size) const {
    const auto got = ::recv(fd_.get(), data, size, 0);
    if (got > 0) return got;
    if (got == 0) return NGHTTP2_ERR_EOF;
    return errno == EAGAIN || errno == EINTR ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  int take(const std::uint8_t *data, std::size_t size) {
    if (size > call_.most_bytes + kHead - answer_.size()) {
      too_long_ = ended_ = true;
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    answer_.append(reinterpret_cast<const char *>(data), size);
    return 0;
  }
  void header(std::string_view name, std::string_view value) {
    if (name == ":status") http_status_ = value;
    if (name == "grpc-status") grpc_status_ = parse_integer<int>(value);
    if (name == "grpc-message") grpc_message_ = value.substr(0, kLongestReason);
  }
  Result<std::string> answer() const;

  static constexpr std::size_t kLongestReason = 200;

  const GrpcCall &call_;
  UniqueFd fd_;
  std::string request_;
  std::size_t sent_ = 0;
  std::unique_ptr<nghttp2_session, SessionEnd> session_;
  std::string answer_, http_status_, grpc_message_;
  std::optional<int> grpc_status_;
  bool ended_ = false, too_long_ = false;
};

void Connection::add_callbacks(nghttp2_session_callbacks *callbacks) {
  nghttp2_session_callbacks_set_send_callback(
      callbacks, [](nghttp2_session *, const std::uint8_t *data, std::size_t size, int, void *user) {
        return self(user).send(data, size);
      });
  nghttp2_session_callbacks_set_recv_callback(
      callbacks, [](nghttp2_session *, std::uint8_t *data, std::size_t size, int, void *user) {
        return self(user).receive(data, size);
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks, [](nghttp2_session *, std::uint8_t, std::int32_t, const std::uint8_t *data, std::size_t size,
                    void *user) { return self(user).take(data, size); });
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks, [](nghttp2_session *, const nghttp2_frame *, const std::uint8_t *name, std::size_t name_size,
                    const std::uint8_t *value, std::size_t value_size, std::uint8_t, void *user) {
        self(user).header({reinterpret_cast<const char *>(name), name_size},
                          {reinterpret_cast<const char *>(value), value_size});
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session *, std::int32_t, std::uint32_t, void *user) {
        self(user).ended_ = true;
        return 0;
      });
}

bool Connection::begin() {
  nghttp2_session_callbacks *made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) return false;
  const std::unique_ptr<nghttp2_session_callbacks, CallbacksEnd> callbacks(made);
  add_callbacks(made);
  nghttp2_session *session = nullptr;
  if (nghttp2_session_client_new(&session, made, this) != 0) return false;
  session_.reset(session);
  if (nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0) != 0) return false;
  const auto pair = [](std::string_view name, std::string_view value) {
    // The library takes what it does not change as if it did.
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<std::uint8_t *>(const_cast<char *>(text.data()));  // NOLINT(*-const-cast)
    };
    return nghttp2_nv{bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  };
  const std::array headers{pair(":method", "POST"),     pair(":scheme", "http"),
                           pair(":path", call_.method), pair(":authority", "localhost"),
                           pair("te", "trailers"),      pair("content-type", "application/grpc"),
                           pair("user-agent", "gpulse")};
  nghttp2_data_provider body{};
  body.read_callback = [](nghttp2_session *, std::int32_t, std::uint8_t *to, std::size_t most, std::uint32_t *flags,
                          nghttp2_data_source *, void *user) -> ssize_t {
    auto &one = self(user);
    const auto size = one.request_.copy(reinterpret_cast<char *>(to), most, one.sent_);
    one.sent_ += size;
    if (one.sent_ == one.request_.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  };
  return nghttp2_submit_request(session, nullptr, headers.data(), headers.size(), &body, nullptr) > 0;
}

Result<std::string> Connection::answer() const {
  if (too_long_) return failure("the answer is too long");
  if (http_status_ != "200") return failure("the answer is no gRPC");
  if (grpc_status_ != 0) return failure("refused", printable(grpc_message_));
  if (answer_.size() < kHead) return failure("the answer is empty");
  std::size_t size = 0;
  for (std::size_t i = 1; i < kHead; ++i) size = size << 8U | static_cast<std::uint8_t>(answer_[i]);
  if (answer_[0] != 0 || size != answer_.size() - kHead) return failure("the answer is damaged");
  return answer_.substr(kHead);
}

}  // namespace

Result<std::string> grpc_call(const GrpcCall &call, Monotonic deadline) {
  auto fd = connect_to(call.socket);
  if (!fd) return std::unexpected(fd.error());
  return Connection(call, std::move(*fd)).run(deadline);
}

}  // namespace gpulse::kube
