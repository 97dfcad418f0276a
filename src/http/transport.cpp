// SPDX-License-Identifier: Apache-2.0
#include "http/transport.hpp"

#include <netinet/tcp.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/bind_allocator.hpp>
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

// Where Asio keeps an operation that is under way; of a kind there is one at a time.
struct OperationMemory {
  alignas(std::max_align_t) std::array<std::byte, 384> bytes{};
  bool is_taken = false;
};

template <class T>
class OperationAllocator {
 public:
  using value_type = T;  // NOLINT(readability-identifier-naming)

  explicit OperationAllocator(OperationMemory &memory) : memory_(&memory) {}
  template <class U>
  OperationAllocator(const OperationAllocator<U> &other) : memory_(other.memory()) {}  // NOLINT(*-explicit-constructor)

  T *allocate(std::size_t count) {
    const auto bytes = count * sizeof(T);
    if (memory_->is_taken || bytes > sizeof memory_->bytes) return static_cast<T *>(::operator new(bytes));
    memory_->is_taken = true;
    return reinterpret_cast<T *>(memory_->bytes.data());
  }
  void deallocate(T *block, std::size_t /*count*/) noexcept {
    if (static_cast<void *>(block) != memory_->bytes.data()) return ::operator delete(block);
    memory_->is_taken = false;
  }
  OperationMemory *memory() const { return memory_; }

  template <class U>
  bool operator==(const OperationAllocator<U> &other) const {
    return memory_ == other.memory();
  }

 private:
  OperationMemory *memory_;
};

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
      stream_.async_handshake(Stream::server, [this, done = std::move(done)](const error_code &error) mutable {
        if (!error) peer_.certificate = subject_of(stream_);
        done(!error);
      });
    } else {
      asio::post(stream_.get_executor(), [done = std::move(done)]() mutable { done(true); });
    }
  }

  void read(std::span<char> room, Read done) override {
    stream_.async_read_some(
        asio::mutable_buffer(room.data(), room.size()),
        asio::bind_allocator(
            OperationAllocator<std::byte>(reading_),
            [done = std::move(done)](const error_code &error, std::size_t bytes) mutable { done(error ? 0 : bytes); }));
  }

  void write(std::string_view first, std::string_view second, Done done) override {
    const std::array all{const_buffer(first.data(), first.size()), const_buffer(second.data(), second.size())};
    asio::async_write(
        stream_, all,
        asio::bind_allocator(OperationAllocator<std::byte>(writing_),
                             [done = std::move(done)](const error_code &error, std::size_t) mutable { done(!error); }));
  }

  void finish(Done done) override {
    if constexpr (kIsSecure) {
      stream_.async_shutdown([done = std::move(done)](const error_code &error) mutable { done(!error); });
    } else {
      error_code error;
      lowest().shutdown(asio::socket_base::shutdown_send, error);
      asio::post(stream_.get_executor(), [done = std::move(done), good = !error]() mutable { done(good); });
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
  OperationMemory reading_, writing_;
  Stream stream_;
};

}  // namespace

std::shared_ptr<Transport> make_transport(Loop &loop, UniqueFd socket, const std::shared_ptr<const TlsContext> &tls,
                                          const std::shared_ptr<Slab> &slab) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr *>(&name), &size);
  auto &io = loop.context().io;
  if (tls != nullptr) {
    return std::make_shared<StreamTransport<Secure>>(name.ss_family, std::move(socket), tls, io, tls->get());
  }
  using Plain = StreamTransport<Socket>;
  return std::allocate_shared<Plain>(SlabAllocator<Plain>(slab), name.ss_family, std::move(socket), tls, io);
}

}  // namespace gpulse::http
