// SPDX-License-Identifier: Apache-2.0
// Answers of the API about what was, from a history; an error where that cannot be read. On the thread that has the
// reader.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "history/reader.hpp"
#include "http/message.hpp"
#include "insight/watch.hpp"
#include "serve/api_query.hpp"

namespace gpulse::serve {

// ---- Whoever remembers it, it is written in the same way.

// A curve on one axis of time; not a number: nothing is known.
struct Column {
  std::vector<double> value, least, greatest;

  explicit Column(std::size_t count);
  void put(std::size_t place, const history::Point &point) {
    if (place >= value.size()) return;
    value[place] = point.value;
    least[place] = point.least;
    greatest[place] = point.greatest;
  }
};
// `uuid`: null where it is of the host.
void write_series(JsonWriter &json, MetricId metric, const Text *uuid, const Column &column);
// What the numbers of these mean, where they are a state or a set.
void write_words(JsonWriter &json, const std::vector<MetricId> &metrics);

// From its beginning to its end, as far as is known.
struct FindingSpan {
  std::int64_t number = 0;
  std::string id;
  Text device, text;
  std::optional<WallTime> begin{}, end{};
  bool lasts = false;
};
void write_finding_span(JsonWriter &json, const FindingSpan &span);

// ---- Out of a history.

// Curves on one axis of time: "start_seconds", "step_seconds", "count", and of every series an array of that length.
Result<http::Response> history_answer(history::Reader &reader, const HistoryQuery &query);
// Who was there, or what the processes of each user or job took together.
Result<http::Response> past_processes_answer(history::Reader &reader, const ProcessQuery &query, bool sees_commands);
Result<http::Response> past_events_answer(history::Reader &reader, const EventQuery &query);
// When findings began and ended, with those that last at the moment.
Result<http::Response> past_findings_answer(history::Reader &reader, const EventQuery &query,
                                            const std::vector<insight::LastingFinding> &lasting);

}  // namespace gpulse::serve
