// SPDX-License-Identifier: Apache-2.0
// A response as the bytes that are sent: head, body, and which of them the client has already. Pure but for the cache.
// On the thread that answers, so that the loop's thread only writes.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "http/gzip.hpp"
#include "http/message.hpp"

namespace gpulse::http {

// What the answer depends on of the request.
struct Asked {
  bool is_head = false;
  bool keeps_alive = false;
  bool takes_gzip = false;
  std::string if_none_match{};
};

struct Prepared {
  std::string head;
  std::shared_ptr<const std::string> body{};  // null: none is sent
  std::shared_ptr<Channel> stream{};
  std::chrono::milliseconds delay{0};
  bool keeps_alive = false;
};

Prepared prepare(Response response, const Asked &asked, GzipCache &cache, std::chrono::sys_seconds now);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::chrono::sys_seconds time);

}  // namespace gpulse::http
