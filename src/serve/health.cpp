// SPDX-License-Identifier: Apache-2.0
#include "serve/health.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;

// A driver that hangs holds a sample up for three seconds.
constexpr auto kLate = 10s;

http::Response text_answer(int status, std::string text) {
  return {.status = status,
          .content_type = "text/plain; charset=utf-8",
          .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace

http::Response health_answer(const Board &board, Monotonic now) {
  const auto pace = board.pace();
  if (!pace.last) return text_answer(503, "no sample yet\n");
  const auto age = now - *pace.last;
  if (age <= std::max<std::chrono::nanoseconds>(kLate, 3 * pace.interval)) return text_answer(200, "ok\n");
  return text_answer(503, fmt::format("no sample for {:.0f} s\n", Seconds(age).count()));
}

}  // namespace gpulse::serve
