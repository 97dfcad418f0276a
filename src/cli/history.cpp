// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/counted.hpp"
#include "cli/history_export.hpp"
#include "cli/history_file.hpp"
#include "cli/history_page.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "cli/time_span.hpp"
#include "view/csv.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

// Those of the options, else what is shown usually. An error is wrong usage.
Result<std::vector<MetricId>> metrics_of(const Options &options) {
  if (options.fields.empty()) return view::history_metrics();
  std::vector<MetricId> metrics;
  for (const auto &field : options.fields) {
    const auto id = view::find_field(field);
    if (!id || key_of(*id).scope == Scope::process)
      return failure("no metric '" + field + "'", view::nearest_field(field));
    if (is_text(key_of(*id))) return failure("'" + field + "' is a text", "only numbers have a history");
    if (std::ranges::find(metrics, *id) == metrics.end()) metrics.push_back(*id);
  }
  return metrics;
}

// Beyond this a table does not fit into memory.
constexpr double kMostValues = 10e6;

// An error is wrong usage.
Result<void> check_request(const Options &options, const HistoryRequest &request) {
  if (request.for_program && request.parts() > 1) {
    return failure("one table at a time", "curves, --processes, --users, --jobs or --events");
  }
  const bool exports = !options.export_to.empty();
  if (exports && (request.chosen || request.processes || request.users || request.jobs || request.events ||
                  options.step || !options.user.empty())) {
    return failure("--export takes whole samples", "only the time and -i choose among them");
  }
  return {};
}

Result<HistoryRequest> request_of(const Options &options) {
  const auto span = span_of(options, wall_now(), 1h);
  if (!span) return std::unexpected(span.error());
  auto metrics = metrics_of(options);
  if (!metrics) return std::unexpected(metrics.error());
  HistoryRequest request{.span = *span,
                         .metrics = std::move(*metrics),
                         .chosen = !options.fields.empty(),
                         .curves = !options.fields.empty(),
                         .processes = options.processes,
                         .users = options.users,
                         .jobs = options.jobs,
                         .events = options.events,
                         .for_program = options.csv || options.jsonl,
                         .user = options.user,
                         .selectors = options.devices};
  if (options.step) request.step = std::chrono::ceil<std::chrono::seconds>(*options.step);
  if (const auto good = check_request(options, request); !good) return std::unexpected(good.error());
  const bool is_list = request.processes || request.users || request.jobs || request.events;
  if (!request.user.empty() && request.parts() == 0) {
    request.processes = true;
  } else if (!is_list) {
    request.curves = true;
    request.is_page = !request.for_program;
    request.processes = request.events = request.is_page;
  }
  return request;
}

Result<void> check_size(const HistoryRequest &request, std::size_t devices) {
  if (!request.curves || request.step.count() == 0) return {};
  const double steps = Seconds(request.span.to - request.span.from).count() / static_cast<double>(request.step.count());
  const double values = steps * static_cast<double>(request.metrics.size() * std::max<std::size_t>(devices, 1));
  if (values <= kMostValues) return {};
  return failure(fmt::format("{:.0f} million values are too many at once", values / 1e6),
                 "take a larger --step, a shorter time, or fewer metrics");
}

std::string list_of(const Options &options, const HistoryRequest &request, const view::HistoryPage &page) {
  const auto by = request.users ? view::HistoryOwner::user : view::HistoryOwner::job;
  if (request.processes) return options.csv ? view::history_processes_csv(page) : view::history_processes_json(page);
  if (request.events) return options.csv ? view::history_events_csv(page) : view::history_events_json(page);
  return options.csv ? view::history_totals_csv(page, by) : view::history_totals_json(page, by);
}

Result<void> write_page(const Options &options, const HistoryRequest &request, const view::HistoryPage &page) {
  if (!request.for_program) return write_out(view::render_history(page, style_of(options, STDOUT_FILENO)));
  if (!request.curves) return write_out(list_of(options, request, page));
  Result<void> written;
  const auto write = [&](std::string_view piece) {
    written = write_out(piece);
    return written.has_value();
  };
  options.csv ? view::write_history_csv(page, options.range, write) : view::write_history_json(page, write);
  return written;
}

std::vector<Text> uuids_of(const KnownDevices &devices) {
  std::vector<Text> uuids;
  for (const auto *known : devices) uuids.push_back(known->identity->uuid);
  return uuids;
}

}  // namespace

int run_history(const Options &options) {
  const auto request = request_of(options);
  if (!request) return fail(request.error(), kUsage);
  const auto path = history_to_read(options.history);
  if (!path) return fail(path.error());
  // A look can be broken off at any moment; an export ends with a whole sample.
  const bool exports = !options.export_to.empty();
  const auto stop = exports ? stop_on_signals() : std::stop_token();
  std::optional<ProgressLine> progress(exports ? "exporting" : "reading the history");
  const auto end_with = [&](const Error &error, int code = kFailure) {
    progress.reset();  // off the terminal first
    return fail(error, code);
  };
  auto reader = history::Reader::open(*path, stop);
  if (!reader) return end_with(reader.error());
  if (const auto covered = check_covered(*reader, request->span); !covered) return end_with(covered.error());
  const auto devices = devices_of(*reader, *request);
  if (!devices) return end_with(devices.error(), kUsage);
  if (const auto good = check_size(*request, devices->size()); !good) return end_with(good.error(), kUsage);
  if (exports) {
    const auto chosen = options.devices.empty() ? std::vector<Text>() : uuids_of(*devices);
    const auto exported =
        export_history(*reader, {request->span, chosen, options.export_to, options.force}, *progress, stop);
    if (!exported) return end_with(exported.error());
    return end_with({*exported}, stop.stop_requested() ? kFailure : kGood);
  }
  const auto page = read_page(*reader, *request, *devices, progress->teller());
  if (!page) return end_with(page.error());
  progress.reset();
  if (const auto written = write_page(options, *request, *page); !written) return fail(written.error());
  if (const auto damaged = reader->damaged(); damaged > 0) {
    complain(fmt::format("{} of {} passed over", counted(damaged, "damaged part"), *path));
  }
  return kGood;
}

}  // namespace gpulse::cli
