// SPDX-License-Identifier: Apache-2.0
#include "http/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace gpulse::http {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr const char *kForms = "127.0.0.1:9837, [::1]:9837, name:9837 or unix:/path";

const sockaddr *plain(const sockaddr_storage &bytes) { return reinterpret_cast<const sockaddr *>(&bytes); }

template <class T>
T as(const sockaddr_storage &bytes) {
  T value{};
  std::memcpy(&value, &bytes, sizeof value);
  return value;
}

bool is_loopback(const in_addr &address) { return (ntohl(address.s_addr) >> 24U) == 127; }

bool is_loopback(const sockaddr_storage &bytes) {
  if (bytes.ss_family == AF_UNIX) return true;
  if (bytes.ss_family == AF_INET) return is_loopback(as<sockaddr_in>(bytes).sin_addr);
  const auto address = as<sockaddr_in6>(bytes).sin6_addr;
  if (IN6_IS_ADDR_LOOPBACK(&address)) return true;
  in_addr inner{};
  std::memcpy(&inner, &address.s6_addr[12], sizeof inner);
  return IN6_IS_ADDR_V4MAPPED(&address) && is_loopback(inner);
}

// IPv4 that comes in over IPv6 is shown as what it is.
std::string host_text(const sockaddr_storage &bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.ss_family == AF_INET) {
    const auto address = as<sockaddr_in>(bytes).sin_addr;
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
  }
  const auto address = as<sockaddr_in6>(bytes).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    ::inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  }
  return text.data();
}

std::string name_of(const sockaddr_storage &bytes) {
  if (bytes.ss_family == AF_INET) {
    return fmt::format("{}:{}", host_text(bytes), ntohs(as<sockaddr_in>(bytes).sin_port));
  }
  return fmt::format("[{}]:{}", host_text(bytes), ntohs(as<sockaddr_in6>(bytes).sin6_port));
}

Result<Address> parse_unix(std::string_view text) {
  const std::string path(text.substr(kUnix.size()));
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  if (!path.starts_with('/') || path.size() >= sizeof name.sun_path || path.contains('\0')) {
    return failure(fmt::format("\"{}\" names no socket", text), "unix: and a path of at most 107 bytes");
  }
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  Address address{.text = std::string(text), .host = path};
  auto &raw = address.all.emplace_back();
  std::memcpy(&raw.bytes, &name, sizeof name);
  raw.size = sizeof name;
  return address;
}

Result<Address> look_up(Address address, const std::string &host, const std::string &port) {
  const addrinfo hints{.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                       .ai_family = AF_UNSPEC,
                       .ai_socktype = SOCK_STREAM,
                       .ai_protocol = 0,
                       .ai_addrlen = 0,
                       .ai_addr = nullptr,
                       .ai_canonname = nullptr,
                       .ai_next = nullptr};
  addrinfo *found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return failure(fmt::format("no address called {} is known: {}", host, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  for (const auto *one = found; one != nullptr; one = one->ai_next) {
    auto &raw = address.all.emplace_back();
    std::memcpy(&raw.bytes, one->ai_addr, one->ai_addrlen);
    raw.size = one->ai_addrlen;
    address.is_loopback = address.is_loopback && is_loopback(raw.bytes);
  }
  return address;
}

// Something that is left of a program that has ended can be removed.
bool is_stale_socket(const Address::Raw &raw, const std::string &path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe && ::connect(probe.get(), plain(raw.bytes), raw.size) != 0 && errno == ECONNREFUSED;
}

Result<Listener> listen_on_one(const Address &address, const Address::Raw &raw) {
  const auto fail = [&] {
    const int code = errno;
    return failure(fmt::format("cannot listen on {}", address.text),
                   code == EADDRINUSE ? "another program listens there" : std::strerror(code));
  };
  const bool is_unix = raw.bytes.ss_family == AF_UNIX;
  UniqueFd socket(::socket(raw.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail();
  const int on = 1;
  if (!is_unix) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Else "::" would take the port of IPv4 as well, or fail where somebody has that one.
  if (raw.bytes.ss_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (is_unix && is_stale_socket(raw, address.host)) ::unlink(address.host.c_str());
  if (::bind(socket.get(), plain(raw.bytes), raw.size) != 0) return fail();
  if (::listen(socket.get(), SOMAXCONN) != 0) return fail();
  if (is_unix) return Listener(std::move(socket), address.text, address.host);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr *>(&bound), &size) != 0) return fail();
  return Listener(std::move(socket), name_of(bound), {});
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_unix(text);
  const auto colon = text.rfind(':');
  const bool has_brackets = text.starts_with('[') && colon != std::string_view::npos && text[colon - 1] == ']';
  if (colon == std::string_view::npos || colon == 0 || (!has_brackets && text.find(':') != colon)) {
    return failure(fmt::format("\"{}\" is no address to listen on", text), kForms);
  }
  const std::string host(has_brackets ? text.substr(1, colon - 2) : text.substr(0, colon));
  const auto port = text.substr(colon + 1);
  const auto number = parse_integer<std::uint16_t>(port);
  if (!number || host.empty()) return failure(fmt::format("\"{}\" is no address to listen on", text), kForms);
  return look_up({.text = std::string(text), .host = host}, host, std::string(port));
}

Listener::~Listener() {
  if (socket_ && !file_.empty()) ::unlink(file_.c_str());
}

Result<std::vector<Listener>> listen_on(const Address &address) {
  std::vector<Listener> all;
  for (const auto &raw : address.all) {
    auto one = listen_on_one(address, raw);
    if (!one) return std::unexpected(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

Peer peer_of(int fd) {
  sockaddr_storage bytes{};
  socklen_t size = sizeof bytes;
  if (::getpeername(fd, reinterpret_cast<sockaddr *>(&bytes), &size) != 0) return {};
  if (bytes.ss_family == AF_UNIX) return {.address = "unix", .is_loopback = true, .certificate = {}};
  return {.address = host_text(bytes), .is_loopback = is_loopback(bytes), .certificate = {}};
}

bool is_ip_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::string host(text.substr(0, text.find('%')));
  in6_addr unused{};
  return ::inet_pton(AF_INET, host.c_str(), &unused) == 1 || ::inet_pton(AF_INET6, host.c_str(), &unused) == 1;
}

}  // namespace gpulse::http
