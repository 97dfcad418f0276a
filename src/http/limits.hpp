// SPDX-License-Identifier: Apache-2.0
// What one who asks over HTTP may take: plain numbers, all of them with a default that a browser, a scraper and a proxy
// never reach.
#pragma once

#include <chrono>
#include <cstddef>

namespace gpulse::http {

struct Limits {
  std::size_t connections = 512;              // that are no streams
  std::size_t connections_per_address = 128;  // streams included; a proxy on this machine is not bound by it
  std::size_t streams = 256;
  std::size_t head_bytes = 16 << 10U;  // request line and header fields
  std::size_t target_bytes = 8 << 10U;
  std::size_t header_fields = 100;
  std::size_t body_bytes = 64 << 10U;
  std::size_t waiting_frames = 16;             // of a stream whose client does not read
  std::chrono::milliseconds head_time{10000};  // from its first byte to its last, TLS included
  std::chrono::milliseconds body_time{10000};
  std::chrono::milliseconds idle_time{75000};   // between two requests; longer than scrapers pause
  std::chrono::milliseconds write_time{20000};  // for one answer, or one frame of a stream
  std::chrono::milliseconds heartbeat{15000};   // of a stream on which nothing was sent for so long
};

}  // namespace gpulse::http
