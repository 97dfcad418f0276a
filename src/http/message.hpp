// SPDX-License-Identifier: Apache-2.0
// What is asked over HTTP and what is answered, as plain values: no word of the library that speaks it. The server
// makes requests, handlers make responses.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpulse::http {

class Channel;  // http/channel.hpp: events for any number of streams

using Fields = std::vector<std::pair<std::string, std::string>>;

enum class Method : std::uint8_t { get, head, post, other };

// Who is at the other end.
struct Peer {
  std::string address;  // "127.0.0.1", "::1", …
  bool is_loopback = false;
  bool is_secure = false;   // over TLS
  std::string certificate;  // subject of the client's certificate, where one was asked for and is good; else empty
};

struct Request {
  Method method = Method::get;
  std::string path = "/";  // decoded, without "." and "..", without the base path
  Fields query{};          // decoded, in the order of the address
  Fields headers{};        // names in lower case
  std::string body{};
  Peer peer{};

  // Of the first by this name; none: there is no such.
  std::optional<std::string_view> header(std::string_view name) const;
  std::optional<std::string_view> parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body{};  // null: none
  std::string etag{};                         // quoted; a request that has it already gets 304
  std::string cache_control = "no-store";
  Fields headers{};
  bool has_frame_policy = false;  // it says itself who may show it in a frame; else nobody may
  std::shared_ptr<Channel>
      stream{};  // the answer is what this channel publishes, until one side ends; body comes first
  std::chrono::milliseconds delay{0};  // to be sent no sooner than after this
};

// May be called from any thread, once; the connection may be gone by then.
using Answer = std::function<void(Response)>;
// Called on one of the server's workers, several at a time. Must not wait for a driver.
using Handler = std::function<void(const Request &, const Answer &)>;

// {"error":{"message":…,"field":…}}, the field left out where it is empty.
Response error(int status, std::string_view message, std::string_view field = {});

}  // namespace gpulse::http
