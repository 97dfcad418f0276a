// SPDX-License-Identifier: Apache-2.0
// Any bytes as the head of a request. What is accepted reads the same to everybody: whole lines, one length, one host,
// a path that leads nowhere else.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "http/parse_request.hpp"

namespace {

using namespace gpulse;

void require(bool holds) {
  if (!holds) std::abort();
}

std::ptrdiff_t count(const http::Request &request, std::string_view name) {
  return std::ranges::count(request.headers, name, [](const auto &field) { return std::string_view(field.first); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const auto head = http::parse_head(text, {});
  if (!head) {
    require(head.error().status >= 400 && head.error().status < 600 && !head.error().why.empty());
    return 0;
  }
  const auto &request = head->request;
  require(text.ends_with("\r\n\r\n"));
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') require(i + 1 < text.size() && text[i + 1] == '\n');
    if (text[i] == '\n') require(i > 0 && text[i - 1] == '\r');
  }
  require(request.path.starts_with('/') && printable(request.path) == request.path);
  require(("/" + request.path + "/").find("/../") == std::string::npos);
  require(count(request, "content-length") <= 1 && count(request, "host") <= 1);
  require(count(request, "transfer-encoding") == 0);
  return 0;
}
