// SPDX-License-Identifier: Apache-2.0
// Samples as lines of a file: CSV with its titles once at the top, a line per device; JSON with a line per sample.
#pragma once

#include "sink/device_filter.hpp"
#include "sink/output_file.hpp"
#include "sink/sink.hpp"
#include "view/csv.hpp"

namespace gpulse::sink {

// The columns of a CSV without steps.
Result<std::vector<view::CsvColumn>> log_columns(std::span<const std::string> fields);

Result<void> check_text_target(const SinkOptions &options);
Result<std::unique_ptr<Sink>> open_csv(const SinkOptions &options, const std::stop_token &stop);
Result<std::unique_ptr<Sink>> open_jsonl(const SinkOptions &options, const std::stop_token &stop);

}  // namespace gpulse::sink
