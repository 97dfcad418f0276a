// SPDX-License-Identifier: Apache-2.0
#include "http/parse_request.hpp"

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "base/text.hpp"
#include "http/target.hpp"

namespace gpulse::http {

namespace {

namespace beast = boost::beast;

using Parser = beast::http::request_parser<beast::http::empty_body>;

// Lines end in CR LF and nothing else, none is continued on the next, and there is no NUL.
bool has_clean_lines(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\0') return false;
    if (c == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')) return false;
    if (c == '\n' && (i == 0 || text[i - 1] != '\r')) return false;
    const bool is_folded = c == '\n' && i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\t');
    if (is_folded) return false;
  }
  return true;
}

// A first line that is right but for its end, such as "GET / HTTP/2.0".
bool asks_for_other_version(std::string_view text) {
  const auto line = text.substr(0, text.find('\r'));
  const auto words = split(line, ' ');
  return words.size() == 3 && words[2].size() == 8 && words[2].starts_with("HTTP/") && words[2][6] == '.';
}

Method method_of(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::get:
      return Method::get;
    case beast::http::verb::head:
      return Method::head;
    case beast::http::verb::post:
      return Method::post;
    default:
      return Method::other;
  }
}

bool is_once(const Fields &headers, std::string_view name) {
  return std::ranges::count(headers, name, [](const auto &field) { return std::string_view(field.first); }) <= 1;
}

// "gzip", "deflate, gzip;q=0.5", but not "gzip;q=0".
bool accepts_gzip(std::string_view field) {
  for (const auto piece : split(field, ',')) {
    auto rest = trim(piece);
    const auto name = lower(trim(next_piece(rest, ';')));
    if (name != "gzip" && name != "*") continue;
    const auto weight = trim(rest);
    if (!weight.starts_with("q=")) return true;
    return parse_double(weight.substr(2)).value_or(0) > 0;
  }
  return false;
}

std::expected<Request, Refusal> request_of(const Parser::value_type &message, const Limits &limits) {
  Request request;
  request.method = method_of(message.method());
  const std::string_view target(message.target().data(), message.target().size());
  if (target.size() > limits.target_bytes) return std::unexpected(Refusal{414, "the address is too long"});
  auto parsed = parse_target(target);
  if (!parsed) return std::unexpected(Refusal{400, "the address makes no sense"});
  request.path = std::move(parsed->path);
  request.query = std::move(parsed->query);
  for (const auto &field : message) {
    const auto name = field.name_string();
    const auto value = field.value();
    request.headers.emplace_back(lower({name.data(), name.size()}), std::string(value.data(), value.size()));
  }
  if (request.headers.size() > limits.header_fields) {
    return std::unexpected(Refusal{431, "there are too many header fields"});
  }
  return request;
}

// Where the body ends must be said once, in one way.
std::expected<std::uint64_t, Refusal> body_of(const Request &request, const Limits &limits) {
  const auto length = request.header("content-length");
  const bool is_coded = request.header("transfer-encoding").has_value();
  if (is_coded && length) return std::unexpected(Refusal{400, "the length of the body is told twice"});
  if (is_coded) return std::unexpected(Refusal{411, "a body needs a Content-Length"});
  if (request.header("expect")) return std::unexpected(Refusal{417, "nothing is expected here"});
  if (!length) return 0;
  const auto bytes = parse_integer<std::uint64_t>(*length);
  if (!bytes || length->size() > 10) return std::unexpected(Refusal{400, "the length of the body is no number"});
  if (*bytes > limits.body_bytes) return std::unexpected(Refusal{413, "the body is too large"});
  return *bytes;
}

}  // namespace

std::expected<Head, Refusal> parse_head(std::string_view text, const Limits &limits) {
  if (!has_clean_lines(text)) return std::unexpected(Refusal{400, "a line of the request is malformed"});
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.head_bytes));
  parser.eager(false);
  beast::error_code error;
  const auto used = parser.put(boost::asio::const_buffer(text.data(), text.size()), error);
  if (error == beast::http::error::bad_version && asks_for_other_version(text)) {
    return std::unexpected(Refusal{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"});
  }
  if (error || !parser.is_header_done() || used != text.size()) {
    return std::unexpected(Refusal{400, "the request is malformed"});
  }
  const auto &message = parser.get();
  auto request = request_of(message, limits);
  if (!request) return std::unexpected(request.error());
  for (const auto *name : {"host", "content-length", "transfer-encoding", "authorization", "origin", "expect"}) {
    if (!is_once(request->headers, name)) return std::unexpected(Refusal{400, "a header field is there twice"});
  }
  if (message.version() == 11 && !request->header("host")) {
    return std::unexpected(Refusal{400, "the Host field is missing"});
  }
  const auto body = body_of(*request, limits);
  if (!body) return std::unexpected(body.error());
  const auto encodings = request->header("accept-encoding");
  return Head{.request = std::move(*request),
              .body_bytes = *body,
              .keeps_alive = message.keep_alive(),
              .takes_gzip = encodings && accepts_gzip(*encodings)};
}

}  // namespace gpulse::http
