// SPDX-License-Identifier: Apache-2.0
#include "http/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/file.hpp"
#include "http/client_connection.hpp"
#include "http/parse_response.hpp"
#include "http/proxy.hpp"

namespace gpulse::http {

namespace {

// Anything else could begin a header field, or a request, of its own.
bool is_field_value(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'); });
}

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kOthers.contains(c);
  });
}

Result<void> check(const ClientRequest &request) {
  if (!is_token(request.method)) return failure("the method of a request makes no sense", "use GET or POST");
  for (const auto &[name, value] : request.headers) {
    if (is_token(name) && is_field_value(value)) continue;
    return failure(fmt::format("the header field \"{}\" makes no sense", name),
                   "leave out line breaks and control characters");
  }
  return {};
}

Result<std::string> read_secret(const std::string &file) {
  auto text = read_small_file(file);
  if (!text) return text;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty()) return failure(fmt::format("{} is empty", file), "write the secret into it");
  if (!is_field_value(*text))
    return failure(fmt::format("{} holds more than one line", file), "write only the secret into it");
  return text;
}

bool has_header(const ClientRequest &request, std::string_view name) {
  return std::ranges::any_of(request.headers, [&](const auto &field) { return lower(field.first) == name; });
}

Result<std::string> authorization(const ClientOptions &options) {
  if (!options.bearer_file.empty()) {
    auto secret = read_secret(options.bearer_file);
    if (!secret) return secret;
    return "Bearer " + *secret;
  }
  if (options.user.empty()) return std::string();
  if (options.password_file.empty()) return basic_credentials(options.user + ":");
  auto secret = read_secret(options.password_file);
  if (!secret) return secret;
  return basic_credentials(options.user + ":" + *secret);
}

// Where a connection leads: one that is kept serves only requests of the same kind.
std::string way_of(const Url &url, const std::optional<Proxy> &proxy) {
  const auto through = proxy ? fmt::format(" {}:{} {}", proxy->host, proxy->port, proxy->authorization) : "";
  // A plain proxy takes requests to any server.
  if (proxy && !url.is_secure) return "http" + through;
  return fmt::format("{} {}:{}{}", url.is_secure, url.host, url.port, through);
}

}  // namespace

std::optional<std::string_view> ClientResponse::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, [](const auto &field) { return std::string_view(field.first); });
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

struct Client::Parts {
  explicit Parts(ClientOptions given) : options(std::move(given)) {}

  Result<std::string> head_of(const ClientRequest &request, const std::optional<Proxy> &proxy) const;
  Result<ClientConnection> connect(const Url &url, const std::optional<Proxy> &proxy, TimeLimit &limit);
  Result<void> open_tunnel(ClientConnection &connection, const Url &url, const Proxy &proxy,
                           const TimeLimit &limit) const;
  // True: the server has ended the connection before it began to answer.
  Result<bool> exchange(std::string_view head, const ClientRequest &request, ResponseParser &parser,
                        const TimeLimit &limit);

  ClientOptions options;
  ClientTls tls{};
  std::optional<ClientConnection> kept{};
  std::string kept_way{};
};

Result<std::string> Client::Parts::head_of(const ClientRequest &request, const std::optional<Proxy> &proxy) const {
  const auto &url = request.url;
  const bool is_whole = proxy && !url.is_secure;
  auto head = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, is_whole ? url.text() : url.target,
                          url.authority());
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty() && !has_header(request, lower(name))) head += fmt::format("{}: {}\r\n", name, value);
  };
  add("User-Agent", options.user_agent);
  add("Accept-Encoding", "gzip");
  const auto credentials = authorization(options);
  if (!credentials) return credentials;
  add("Authorization", *credentials);
  if (is_whole) add("Proxy-Authorization", proxy->authorization);
  const bool has_body = !request.body.empty() || request.method == "POST" || request.method == "PUT";
  if (has_body) add("Content-Length", fmt::format("{}", request.body.size()));
  for (const auto &[name, value] : request.headers) head += fmt::format("{}: {}\r\n", name, value);
  return head + "\r\n";
}

Result<void> Client::Parts::open_tunnel(ClientConnection &connection, const Url &url, const Proxy &proxy,
                                        const TimeLimit &limit) const {
  const auto target = fmt::format("{}:{}", url.host.contains(':') ? "[" + url.host + "]" : url.host, url.port);
  auto head = fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\n", target, target, options.user_agent);
  if (!proxy.authorization.empty()) head += fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization);
  if (auto good = connection.write(head + "\r\n", limit); !good) return good;
  ResponseParser parser(ResponseParser::Body::none, 0);
  while (!parser.is_done()) {
    // Byte by byte, because what follows the answer belongs to the server behind.
    std::array<char, 1> room{};
    const auto bytes = connection.read(room, limit);
    if (!bytes) return std::unexpected(bytes.error());
    auto good = *bytes == 0 ? parser.put_end() : parser.put({room.data(), *bytes});
    if (!good) return good;
  }
  const auto answer = parser.take();
  if (!answer) return std::unexpected(answer.error());
  if (answer->status / 100 == 2) return {};
  return failure(fmt::format("the proxy {}:{} answered {} instead of connecting to {}", proxy.host, proxy.port,
                             answer->status, target),
                 "see its rules, and whether it wants a user and a password");
}

Result<ClientConnection> Client::Parts::connect(const Url &url, const std::optional<Proxy> &proxy, TimeLimit &limit) {
  const auto end = limit.end();
  limit.shorten(monotonic_now() + options.connect_time);
  auto connection = ClientConnection::open(proxy ? proxy->host : url.host, proxy ? proxy->port : url.port, limit);
  if (!connection) return connection;
  if (url.is_secure) {
    if (proxy) {
      if (auto good = open_tunnel(*connection, url, *proxy, limit); !good) return std::unexpected(good.error());
    }
    if (auto good = connection->secure(tls, options, url.host, limit); !good) return std::unexpected(good.error());
  }
  limit.set_end(end);
  return connection;
}

Result<bool> Client::Parts::exchange(std::string_view head, const ClientRequest &request, ResponseParser &parser,
                                     const TimeLimit &limit) {
  const auto over = [&] { return limit.stop().stop_requested() || monotonic_now() >= limit.end(); };
  auto written = kept->write(head, limit);
  if (written) written = kept->write(request.body, limit);
  // A server that refuses a large body may answer and close before it has read all of it.
  if (!written && over()) return std::unexpected(written.error());
  std::string room(std::size_t{64} << 10U, '\0');
  while (!parser.is_done()) {
    const auto bytes = kept->read(room, limit);
    const bool has_ended = !bytes || *bytes == 0;
    if (has_ended && !parser.has_begun() && !over()) {
      if (!bytes || !written) return failure((bytes ? written.error() : bytes.error()).what, "see the server's log");
      return true;
    }
    if (!bytes) return std::unexpected(bytes.error());
    auto good = has_ended ? parser.put_end() : parser.put({room.data(), *bytes});
    if (!good) return std::unexpected(good.error());
  }
  return false;
}

Client::Client(ClientOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
Client::Client(Client &&) noexcept = default;
Client &Client::operator=(Client &&) noexcept = default;
Client::~Client() = default;

Result<ClientResponse> Client::send(const ClientRequest &request, const std::stop_token &stop) {
  auto &parts = *parts_;
  // OpenSSL writes without asking for no signal.
  const NoPipeSignal no_signal;
  TimeLimit limit(stop, monotonic_now() + parts.options.total_time);
  if (auto good = check(request); !good) return std::unexpected(good.error());
  const auto proxy = proxy_for(request.url, parts.options.proxy, [](const char *name) { return std::getenv(name); });
  if (!proxy) return std::unexpected(proxy.error());
  const auto head = parts.head_of(request, *proxy);
  if (!head) return std::unexpected(head.error());
  const auto way = way_of(request.url, *proxy);
  if (parts.kept && (parts.kept_way != way || !parts.kept->is_usable())) parts.kept.reset();
  while (true) {
    const bool is_reused = parts.kept.has_value();
    if (!is_reused) {
      auto connection = parts.connect(request.url, *proxy, limit);
      if (!connection) return std::unexpected(connection.error());
      parts.kept = std::move(*connection);
      parts.kept_way = way;
    }
    const auto body = request.method == "HEAD" ? ResponseParser::Body::none : ResponseParser::Body::any;
    ResponseParser parser(body, parts.options.most_bytes);
    const auto ended = parts.exchange(*head, request, parser, limit);
    if (!ended || *ended || !parser.keeps_alive()) parts.kept.reset();
    const bool is_over = stop.stop_requested() || monotonic_now() >= limit.end();
    if (is_reused && !is_over && !parser.has_begun() && (!ended || *ended)) continue;
    if (!ended) return std::unexpected(ended.error());
    if (*ended)
      return failure(fmt::format("{} ended the connection without an answer", request.url.authority()),
                     "see the server's log");
    return parser.take();
  }
}

}  // namespace gpulse::http
