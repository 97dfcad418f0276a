// SPDX-License-Identifier: Apache-2.0
// Whatever a client sends, through the very code that a connection runs through: nothing breaks, and what is answered
// begins like HTTP.
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "http/channel.hpp"
#include "http/server_core.hpp"

namespace {

using namespace gpulse;
using namespace gpulse::http;

void answer_it(const Request &request, const Answer &answer) {
  static const auto kChannel = Channel::make();
  if (request.path == "/stream") return answer({.content_type = "text/event-stream", .stream = kChannel});
  if (request.path == "/none") return;
  // What reaches a handler has been looked through.
  if (!request.path.starts_with('/') || request.path.find('\0') != std::string::npos) std::abort();
  Response response{.body = std::make_shared<const std::string>(request.path + request.body), .etag = "\"1\""};
  response.headers.emplace_back("X-Query", request.parameter("q").value_or(""));
  answer(std::move(response));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static ServerCore core({.head_bytes = 2048, .target_bytes = 512, .body_bytes = 512}, answer_it, 0);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) return 0;
  const UniqueFd client(ends[0]);
  core.adopt(UniqueFd(ends[1]), nullptr);
  // The first byte says how large the pieces are in which the rest arrives.
  const std::size_t piece = size > 0 ? data[0] % 64 * 64 + 1 : 1;
  for (std::size_t at = 1; at < size; at += piece) {
    const auto bytes = std::min(piece, size - at);
    if (::send(client.get(), data + at, bytes, MSG_NOSIGNAL) < 0) break;
    core.loop().poll();
  }
  ::shutdown(client.get(), SHUT_WR);
  core.loop().poll();
  std::array<char, 64> answer{};
  const auto bytes = ::recv(client.get(), answer.data(), answer.size(), 0);
  if (bytes > 0 && !std::string_view(answer.data(), static_cast<std::size_t>(bytes)).starts_with("HTTP/1.1 "))
    std::abort();
  core.close_all();
  core.loop().poll();
  return 0;
}
