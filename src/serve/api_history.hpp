// SPDX-License-Identifier: Apache-2.0
// Answers of the API about what was, from a history; an error where that cannot be read. On the thread that has the
// reader.
#pragma once

#include "history/reader.hpp"
#include "http/message.hpp"
#include "insight/watch.hpp"
#include "serve/api_query.hpp"

namespace gpulse::serve {

// Curves on one axis of time: "start_seconds", "step_seconds", "count", and of every series an array of that length.
Result<http::Response> history_answer(history::Reader &reader, const HistoryQuery &query);
// Who was there, or what the processes of each user or job took together.
Result<http::Response> past_processes_answer(history::Reader &reader, const ProcessQuery &query, bool sees_commands);
Result<http::Response> past_events_answer(history::Reader &reader, const EventQuery &query);
// When findings began and ended, with those that last at the moment.
Result<http::Response> past_findings_answer(history::Reader &reader, const EventQuery &query,
                                            const std::vector<insight::LastingFinding> &lasting);

}  // namespace gpulse::serve
