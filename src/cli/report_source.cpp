// SPDX-License-Identifier: Apache-2.0
#include "cli/report_source.hpp"

#include <fmt/format.h>

#include "cli/engine_options.hpp"
#include "cli/history_file.hpp"
#include "cli/history_page.hpp"
#include "cli/progress.hpp"
#include "fleet/usage.hpp"

namespace gpulse::cli {

namespace {

using Read = std::expected<insight::Usage, NoUsage>;

std::unexpected<NoUsage> failed(const Error &error, int code = kFailure) {
  return std::unexpected(NoUsage{error, code});
}

Read from_history(const Options &options, const history::Span &span) {
  ProgressLine progress("reading the history");
  const auto path = history_to_read(options.history);
  if (!path) return failed(path.error());
  auto reader = history::Reader::open(*path);
  if (!reader) return failed(reader.error());
  if (const auto covered = check_covered(*reader, span); !covered) return failed(covered.error());
  const auto devices = serve::devices_in(*reader, span, options.devices);
  if (!devices) return failed(devices.error(), kUsage);
  const auto chosen = options.devices.empty() ? std::vector<std::int64_t>() : serve::ids_of(*devices);
  auto usage = reader->usage(span, chosen, progress.teller());
  if (!usage) return failed(usage.error());
  if (usage->recorded_seconds <= 0) {
    return failed(
        {"no whole minute of that time is recorded", "reports are made of whole minutes: take a longer time"});
  }
  return std::move(*usage);
}

Read from_engine(const Options &options, const history::Span &span) {
  auto how = engine_options(options);
  if (!how) return failed(how.error(), kUsage);
  fleet::Engine engine(std::move(*how));
  ProgressLine progress(fmt::format("asking {}", engine.place()));
  const auto known = fleet::read_gpus(engine, span.from, span.to);
  if (!known) return failed(known.error().error);
  if (known->empty()) {
    return failed(
        {fmt::format("the engine at {} has no GPUs of that time", engine.place()),
         "see that it scrapes the agents or that they write to it (docs/prometheus.md), or take another time"});
  }
  auto chosen = fleet::choose_gpus(*known, options.devices);
  if (!chosen) return failed(chosen.error(), kUsage);
  const bool is_part = chosen->size() < known->size();
  auto usage = fleet::read_usage(
      engine, {.from = span.from, .to = span.to, .gpus = std::move(*chosen), .is_part = is_part}, progress.teller());
  if (!usage) return failed(usage.error().error);
  if (usage->from == usage->to) {
    return failed({"a report of an engine needs at least five minutes", "take a longer time, or one further back"});
  }
  if (usage->recorded_seconds <= 0) {
    return failed({fmt::format("the engine at {} has nothing of that time", engine.place()), "take another time"});
  }
  return std::move(*usage);
}

}  // namespace

Read read_usage(const Options &options, const history::Span &span) {
  return options.url.empty() ? from_history(options, span) : from_engine(options, span);
}

}  // namespace gpulse::cli
