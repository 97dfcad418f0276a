// SPDX-License-Identifier: Apache-2.0
#include "serve/engine_ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serve/api_parts.hpp"
#include "serve/deadline.hpp"

namespace gpulse::serve {

namespace {

using namespace std::chrono_literals;
using Told = SharedAsks<http::Response>::Told;

constexpr auto kTooLongKept = 30s;
constexpr auto kSettled = 2min;

}  // namespace

void ask_engine(SharedAsks<http::Response> &asks, Timer &timer, const EngineAsk &how, const std::string &key,
                SharedAsks<http::Response>::Work work, const http::Answer &answer) {
  const auto late = [place = how.place, patience = how.patience] { return no_answer_yet(place, patience); };
  const auto in = in_time(timer, monotonic_now() + how.patience, answer, late);
  const auto whole = [&timer, how, work = std::move(work)](const std::stop_token &stop) {
    const Deadline deadline(timer, how.whole, stop);
    auto told = work(deadline.token());
    if (told.value.status != 503 || !deadline.is_over()) return told;
    // Asked again at once it would take as long.
    return Told{.value = try_later(too_long_words(how.place, how.whole)), .kept_for = kTooLongKept};
  };
  if (!asks.ask(key, whole, in)) in(too_many_questions());
}

std::string span_key(WallTime from, WallTime to, const EngineAsk &how) {
  const auto unit = is_closed(to) ? 1s : std::max(1s, std::chrono::ceil<std::chrono::seconds>(how.whole));
  const auto end = std::chrono::floor<std::chrono::seconds>(to.time_since_epoch()).count();
  const auto length = std::chrono::round<std::chrono::seconds>(to - from).count();
  return fmt::format("{} {}", end / unit.count(), length);
}

bool is_closed(WallTime to) { return to + kSettled <= wall_now(); }

}  // namespace gpulse::serve
