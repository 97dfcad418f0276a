// SPDX-License-Identifier: Apache-2.0
#include "http/parse_response.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "base/text.hpp"
#include "http/gzip.hpp"

namespace gpulse::http {

namespace {

namespace beast = boost::beast;

using Parser = beast::http::response_parser<beast::http::string_body>;
using beast::http::error;

constexpr std::uint32_t kHeadBytes = 64 << 10U;
constexpr std::size_t kMostInterim = 8;

std::unexpected<Error> too_large(std::size_t most_bytes) {
  return failure(fmt::format("{} {} bytes", kLargerThan, most_bytes), "check that the address is the right one");
}

std::unexpected<Error> malformed() {
  return failure("what came back is no answer of a web server", "check the address and its port");
}

std::string_view view(const beast::string_view &text) { return {text.data(), text.size()}; }

}  // namespace

struct ResponseParser::Parts {
  Parts(Body wanted, std::size_t bytes) : body(wanted), most_bytes(bytes) { begin(); }

  void begin() {
    parser.emplace();
    parser->header_limit(kHeadBytes);
    parser->body_limit(most_bytes);
    parser->eager(true);
    parser->skip(body == Body::none);
  }

  // "100 Continue" and the like come before the answer itself.
  bool is_interim() const {
    const auto status = parser->get().result_int();
    return status >= 100 && status < 200 && status != 101;
  }

  Body body;
  std::size_t most_bytes;
  std::optional<Parser> parser;
  std::string waiting;  // the beginning of something whose end has not come
  std::size_t interim = 0;
};

ResponseParser::ResponseParser(Body body, std::size_t most_bytes) : parts_(std::make_unique<Parts>(body, most_bytes)) {}
ResponseParser::~ResponseParser() = default;

Result<void> ResponseParser::put(std::string_view bytes) {
  parts_->waiting += bytes;
  auto &waiting = parts_->waiting;
  while (!waiting.empty()) {
    auto &parser = *parts_->parser;
    if (parser.is_done() && !parts_->is_interim()) break;
    if (parser.is_done()) {
      if (++parts_->interim > kMostInterim) return malformed();
      parts_->begin();
      continue;
    }
    beast::error_code problem;
    const auto used = parser.put(boost::asio::const_buffer(waiting.data(), waiting.size()), problem);
    waiting.erase(0, used);
    if (problem == error::body_limit) return too_large(parts_->most_bytes);
    if (problem && problem != error::need_more) return malformed();
    if (problem == error::need_more || (used == 0 && !parser.is_done())) break;
  }
  return {};
}

Result<void> ResponseParser::put_end() {
  beast::error_code problem;
  if (!is_done() && parts_->parser->got_some()) parts_->parser->put_eof(problem);
  if (problem || !is_done()) {
    return failure("the server ended the connection in the middle of its answer", "see the server's log");
  }
  return {};
}

bool ResponseParser::has_begun() const { return parts_->parser->got_some() || parts_->interim > 0; }
bool ResponseParser::is_done() const { return parts_->parser->is_done() && !parts_->is_interim(); }
// Bytes behind the answer belong to no request: they must not become the answer to the next one.
bool ResponseParser::keeps_alive() const { return parts_->parser->keep_alive() && parts_->waiting.empty(); }

Result<ClientResponse> ResponseParser::take() {
  auto message = parts_->parser->release();
  ClientResponse response{.status = static_cast<int>(message.result_int())};
  for (const auto &field : message) {
    response.headers.emplace_back(lower(view(field.name_string())), std::string(view(field.value())));
  }
  response.body = std::move(message.body());
  const auto encoding = lower(trim(response.header("content-encoding").value_or("identity")));
  if (response.body.empty() || encoding == "identity") return response;
  if (encoding != "gzip" && encoding != "x-gzip") {
    return failure(fmt::format("the answer is packed as \"{}\", which was not asked for", encoding),
                   "see the server's settings");
  }
  auto text = unpack(response.body, parts_->most_bytes);
  if (!text && text.error() == Unpacking::too_large) return too_large(parts_->most_bytes);
  if (!text) return failure("the answer says that it is packed with gzip, and is not", "see the server's log");
  response.body = std::move(*text);
  return response;
}

}  // namespace gpulse::http
