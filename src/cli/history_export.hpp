// SPDX-License-Identifier: Apache-2.0
// A part of a history as a recording, which every command plays.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "cli/progress.hpp"
#include "history/reader.hpp"

namespace gpulse::cli {

struct HistoryExport {
  history::Span span;
  std::vector<Text> devices;  // UUIDs; none: all
  std::string path;           // "-": the standard output
  bool overwrite = false;
};

// Says what was exported. After a stop the file ends with a whole sample.
Result<std::string> export_history(history::Reader &reader, const HistoryExport &what, ProgressLine &progress,
                                   const std::stop_token &stop);

}  // namespace gpulse::cli
