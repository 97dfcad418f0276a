// SPDX-License-Identifier: Apache-2.0
#include "cli/time_span.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/moment.hpp"
#include "view/history.hpp"

namespace gpulse::cli {

namespace {

// An error is wrong usage.
Result<WallTime> moment_of(const std::string &text, WallTime now, std::optional<WallTime> after = std::nullopt) {
  if (const auto moment = parse_moment(text, now, after)) return *moment;
  return failure(fmt::format("\"{}\" is not a time", text),
                 "2026-11-16 01:00, 01:00, yesterday 18:00, 2026-11-16T01:00Z, -3h or now");
}

}  // namespace

Result<history::Span> span_of(const Options &options, WallTime now, std::chrono::nanoseconds usual) {
  history::Span span{.from = {}, .to = now};
  if (!options.from.empty()) {
    const auto from = moment_of(options.from, now);
    if (!from) return std::unexpected(from.error());
    span.from = *from;
  }
  if (!options.to.empty()) {
    const auto after = options.from.empty() ? std::nullopt : std::optional(span.from);
    const auto to = moment_of(options.to, now, after);
    if (!to) return std::unexpected(to.error());
    span.to = *to;
  }
  if (options.from.empty()) span.from = span.to - options.since.value_or(usual);
  if (span.from >= span.to) {
    const term::Style plain{.unicode = false};
    return failure(fmt::format("{} is no stretch of time", view::span_words(span.from, span.to, plain)),
                   "--from comes before --to, and before now");
  }
  // What is to come is not known.
  if (span.from < now) span.to = std::min(span.to, now);
  return span;
}

}  // namespace gpulse::cli
