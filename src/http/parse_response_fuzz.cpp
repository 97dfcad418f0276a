// SPDX-License-Identifier: Apache-2.0
// Whatever a server answers, in pieces of any size: nothing breaks, and no body is larger than was asked for.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "http/parse_response.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using gpulse::http::ResponseParser;
  if (size == 0) return 0;
  constexpr std::size_t kMost = 4096;
  // The first byte says how large the pieces are, and whether there may be a body.
  const std::size_t piece = data[0] % 64 * 64 + 1;
  const std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
  ResponseParser parser(data[0] >= 128 ? ResponseParser::Body::none : ResponseParser::Body::any, kMost);
  for (std::size_t at = 0; at < text.size() && !parser.is_done(); at += piece) {
    if (!parser.put(text.substr(at, piece))) return 0;
  }
  if (!parser.is_done() && !parser.put_end()) return 0;
  static_cast<void>(parser.keeps_alive());
  const auto answer = parser.take();
  if (answer && answer->body.size() > kMost) std::abort();
  return 0;
}
