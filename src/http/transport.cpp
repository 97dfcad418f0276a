// SPDX-License-Identifier: Apache-2.0
#include "http/transport.hpp"

#include <netinet/tcp.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <optional>

#include "http/address.hpp"
#include "http/asio_context.hpp"
#include "http/tls_context.hpp"

namespace gpulse::http {

namespace {

namespace asio = boost::asio;

using Socket = asio::generic::stream_protocol::socket;
using Secure = asio::ssl::stream<Socket>;
using asio::const_buffer;
using boost::system::error_code;

std::string subject_of(const Secure &stream) {
  auto *native = const_cast<Secure &>(stream).native_handle();
  const std::unique_ptr<X509, decltype(&::X509_free)> certificate(::SSL_get1_peer_certificate(native), &::X509_free);
  if (!certificate) return {};
  const std::unique_ptr<BIO, decltype(&::BIO_free_all)> out(::BIO_new(::BIO_s_mem()), &::BIO_free_all);
  ::X509_NAME_print_ex(out.get(), ::X509_get_subject_name(certificate.get()), 0, XN_FLAG_RFC2253);
  char *text = nullptr;
  const auto size = ::BIO_get_mem_data(out.get(), &text);
  return Text(std::string(text, static_cast<std::size_t>(size))).str();
}

// A client that has vanished takes nothing and says nothing: without a limit the kernel would try for a quarter of an
// hour to reach it.
constexpr unsigned kUnreachableMilliseconds = 30000;

void tune(int fd) {
  // Answers are written whole: waiting to fill a packet would only delay them.
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnreachableMilliseconds, sizeof kUnreachableMilliseconds);
}

template <class Stream>
class StreamTransport final : public Transport {
  static constexpr bool kIsSecure = std::is_same_v<Stream, Secure>;

 public:
  template <class... Arguments>
  StreamTransport(int family, UniqueFd socket, std::shared_ptr<const TlsContext> tls, asio::io_context &io,
                  Arguments &&...arguments)
      : tls_(std::move(tls)), peer_(peer_of(socket.get())), stream_(io, std::forward<Arguments>(arguments)...) {
    if (family != AF_UNIX) tune(socket.get());
    error_code error;
    lowest().assign(asio::generic::stream_protocol(family, 0), socket.get(), error);
    // Where that failed, whatever is done with the stream fails as well.
    if (!error) static_cast<void>(socket.release());
    peer_.is_secure = kIsSecure;
  }

  void handshake(Done done) override {
    if constexpr (kIsSecure) {
      stream_.async_handshake(Stream::server, [this, done = std::move(done)](const error_code &error) {
        if (!error) peer_.certificate = subject_of(stream_);
        done(!error);
      });
    } else {
      asio::post(stream_.get_executor(), [done = std::move(done)] { done(true); });
    }
  }

  void read(std::span<char> room, Read done) override {
    stream_.async_read_some(
        asio::mutable_buffer(room.data(), room.size()),
        [done = std::move(done)](const error_code &error, std::size_t bytes) { done(error ? 0 : bytes); });
  }

  void write(std::string_view first, std::string_view second, Done done) override {
    const std::array all{const_buffer(first.data(), first.size()), const_buffer(second.data(), second.size())};
    asio::async_write(stream_, all, [done = std::move(done)](const error_code &error, std::size_t) { done(!error); });
  }

  void finish(Done done) override {
    if constexpr (kIsSecure) {
      stream_.async_shutdown([done = std::move(done)](const error_code &error) { done(!error); });
    } else {
      error_code error;
      lowest().shutdown(asio::socket_base::shutdown_send, error);
      asio::post(stream_.get_executor(), [done = std::move(done), good = !error] { done(good); });
    }
  }

  void close() override {
    error_code ignored;
    lowest().close(ignored);
  }

  const Peer &peer() const override { return peer_; }

 private:
  Socket &lowest() {
    if constexpr (kIsSecure) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  std::shared_ptr<const TlsContext> tls_;  // outlives the stream, also where another one has come since
  Peer peer_;
  Stream stream_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(Loop &loop, UniqueFd socket, const std::shared_ptr<const TlsContext> &tls) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr *>(&name), &size);
  auto &io = loop.context().io;
  if (tls == nullptr) return std::make_unique<StreamTransport<Socket>>(name.ss_family, std::move(socket), tls, io);
  return std::make_unique<StreamTransport<Secure>>(name.ss_family, std::move(socket), tls, io, tls->get());
}

}  // namespace gpulse::http
