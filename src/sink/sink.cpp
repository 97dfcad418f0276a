// SPDX-License-Identifier: Apache-2.0
#include "sink/sink.hpp"

#include <algorithm>
#include <iterator>

#include "sink/event_file.hpp"
#include "sink/prometheus_sink.hpp"
#include "sink/tensorboard_sink.hpp"
#include "sink/text_sinks.hpp"
#include "view/json.hpp"
#include "view/prometheus.hpp"

namespace gpulse::sink {

std::optional<Format> parse_format(std::string_view word) {
  const auto *const found = std::ranges::find(kFormatWords, word);
  if (found == std::end(kFormatWords)) return std::nullopt;
  return static_cast<Format>(found - std::begin(kFormatWords));
}

Result<std::optional<MetricSet>> needs_of(const SinkOptions &options) {
  if (options.path.empty()) return failure("there is no file to write to");
  const bool lines = options.format == Format::csv || options.format == Format::jsonl;
  if (options.rotation.wanted() && (!lines || options.path == "-")) {
    return failure("only files of csv and jsonl are rotated", "name one with -o FILE");
  }
  if (options.format == Format::csv) {
    const auto columns = log_columns(options.fields);
    if (!columns) return std::unexpected(columns.error());
    return view::needs_of_csv(*columns);
  }
  if (options.format == Format::jsonl) {
    const auto fields = view::json_fields(options.fields);
    if (!fields) return std::unexpected(fields.error());
    return options.fields.empty() ? std::nullopt : std::optional(view::needs_of_json(*fields));
  }
  if (options.format == Format::prometheus) {
    const auto metrics = view::prometheus_fields(options.fields);
    if (!metrics) return std::unexpected(metrics.error());
    return *metrics;
  }
  if (const auto good = check_run(options.run); !good) return std::unexpected(good.error());
  const auto metrics = view::tensorboard_fields(options.fields);
  if (!metrics) return std::unexpected(metrics.error());
  return *metrics;
}

Result<void> check_target(const SinkOptions &options) {
  if (options.format == Format::tensorboard) return {};
  return options.format == Format::prometheus ? check_prometheus_target(options) : check_text_target(options);
}

Result<std::unique_ptr<Sink>> open(const SinkOptions &options, const std::stop_token &stop) {
  // Says what is wrong with the options.
  if (const auto good = needs_of(options); !good) return std::unexpected(good.error());
  if (options.format == Format::csv) return open_csv(options, stop);
  if (options.format == Format::jsonl) return open_jsonl(options, stop);
  if (options.format == Format::prometheus) return open_prometheus(options);
  return TensorboardSink::open(options);
}

}  // namespace gpulse::sink
