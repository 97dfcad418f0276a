// SPDX-License-Identifier: Apache-2.0
// What was, for the API: the same answers, whoever remembers it. Any thread may ask; the answer comes from another one.
#pragma once

#include <memory>
#include <vector>

#include "http/message.hpp"
#include "insight/watch.hpp"
#include "serve/api_query.hpp"
#include "serve/history_readers.hpp"

namespace gpulse::serve {

class PastSource {
 public:
  PastSource() = default;
  PastSource(const PastSource &) = delete;
  PastSource &operator=(const PastSource &) = delete;
  virtual ~PastSource() = default;

  virtual void history(HistoryQuery query, const http::Answer &answer) = 0;
  // Of these three the query has a span.
  virtual void processes(ProcessQuery query, bool sees_commands, const http::Answer &answer) = 0;
  virtual void events(EventQuery query, const http::Answer &answer) = 0;
  // `lasting`: those that last at the moment.
  virtual void findings(EventQuery query, std::vector<insight::LastingFinding> lasting, const http::Answer &answer) = 0;
};

// The agent's own file; an empty path: it keeps none, which is what everybody is told.
std::unique_ptr<PastSource> history_file_past(const std::string &path, const ReadersLimits &limits = {});

}  // namespace gpulse::serve
