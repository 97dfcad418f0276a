// SPDX-License-Identifier: Apache-2.0
// What is asked of the API, taken from the address: checked, bounded, as plain values. What is wrong names the
// parameter that is to blame. Pure; any thread.
#pragma once

#include <chrono>
#include <expected>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/reader.hpp"
#include "http/message.hpp"
#include "metric/set.hpp"
#include "view/history.hpp"

namespace gpulse::serve {

struct Refusal {
  int status = 400;
  std::string message;
  std::string field{};  // empty: none in particular
};
template <class T>
using Asked = std::expected<T, Refusal>;
http::Response refuse(const Refusal &refusal);

inline constexpr std::size_t kMostMetrics = 64;
inline constexpr std::size_t kMostSelectors = 256;
inline constexpr std::int64_t kMostPoints = 20'000;
// Points of all series together: what an answer of about ten megabytes holds.
inline constexpr std::int64_t kMostValues = 1'000'000;

// Every parameter must be one of these, and given once, unless it is `repeated`.
Asked<void> check_parameters(const http::Request &request, std::initializer_list<std::string_view> known,
                             std::string_view repeated = {});
std::unexpected<Refusal> refused(std::string_view field, std::string message);
// What was given, short and printable, in quotes.
std::string quoted_value(std::string_view text);
Asked<std::int64_t> asked_number(const http::Request &request, std::string_view name, std::int64_t otherwise,
                                 std::int64_t most);

// Unix seconds, or RFC 3339 with its zone.
std::optional<WallTime> api_time(std::string_view text);

// From `from` and `to`, or `since` a time ago; none where neither `from` nor `since` is given. `to` is now unless
// given.
Asked<std::optional<history::Span>> asked_span(const http::Request &request, WallTime now);

// Of a comma-separated list; empty: none was given.
Asked<std::vector<std::string>> asked_devices(const http::Request &request);

// What of a sample is asked for.
struct SampleFilter {
  std::optional<MetricSet> metrics{};  // none: all
  std::vector<std::string> devices{};  // selectors; empty: all
  bool processes = true;
};
// Metrics by key, with "host." or "process." before those that are not of a device; "process.*": all of a scope.
Asked<SampleFilter> asked_sample(const http::Request &request);

struct HistoryQuery {
  history::Span span{};
  std::vector<MetricId> metrics{};
  std::vector<std::string> devices{};
  std::chrono::seconds step{0};  // 0: by `points`
  std::int64_t points = 1000;
};
Asked<HistoryQuery> asked_history(const http::Request &request, WallTime now);

struct ProcessQuery {
  std::optional<history::Span> span{};  // none: now
  std::vector<std::string> devices{};
  std::optional<view::HistoryOwner> by{};  // sums in place of the processes
};
Asked<ProcessQuery> asked_processes(const http::Request &request, WallTime now);

// Of events and findings.
struct EventQuery {
  std::optional<history::Span> span{};
  std::vector<std::string> devices{};
};
Asked<EventQuery> asked_events(const http::Request &request, WallTime now);

}  // namespace gpulse::serve
