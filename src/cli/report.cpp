// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "cli/history_file.hpp"
#include "cli/history_page.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/time_span.hpp"
#include "insight/job_price.hpp"
#include "insight/usage.hpp"
#include "sink/replaced_file.hpp"
#include "view/usage_report.hpp"

namespace gpulse::cli {

namespace {

sink::ReplacedFile::Target target_of(const Options &options) {
  return {.path = options.html_to,
          .existing = options.force ? sink::Existing::overwrite : sink::Existing::refuse,
          .head = view::kUsageHtmlHead};
}

struct Failed {
  Error error;
  int code = kFailure;
};

std::expected<insight::Usage, Failed> read_usage(const Options &options, const history::Span &span,
                                                 ProgressLine &progress) {
  const auto failed = [](const Error &error, int code = kFailure) { return std::unexpected(Failed{error, code}); };
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

Result<void> write_report(const Options &options, const insight::UsageReport &report) {
  const view::UsageReportOptions how{
      .style = style_of(options, STDOUT_FILENO),
      .price = options.price.empty() ? std::nullopt : insight::parse_price(options.price)};
  if (!options.html_to.empty()) {
    auto file = sink::ReplacedFile::open(target_of(options));
    if (!file) return std::unexpected(file.error());
    if (const auto written = file->write(view::usage_report_html(report, how)); !written) return written;
    if (!options.csv && !options.json) return {};
  }
  if (options.csv) return write_out(view::usage_report_csv(report, how));
  if (options.json) return write_out(view::usage_report_json(report, how));
  return write_out(view::render_usage_report(report, how));
}

}  // namespace

int run_report(const Options &options) {
  const auto span = span_of(options, wall_now(), std::chrono::days(7));
  if (!span) return fail(span.error(), kUsage);
  const auto by = insight::usage_by_named(options.report_by);
  if (!by) return fail({"--by takes user, job, account, host or model"}, kUsage);
  if (!options.html_to.empty()) {
    if (const auto good = sink::ReplacedFile::check(target_of(options)); !good) return fail(good.error());
  }
  std::optional<ProgressLine> progress("reading the history");
  const auto usage = read_usage(options, *span, *progress);
  progress.reset();  // off the terminal first
  if (!usage) return fail(usage.error().error, usage.error().code);
  const auto report = insight::make_usage_report(*usage, {.by = *by, .top = options.top, .user = options.user});
  const auto written = write_report(options, report);
  return written ? kGood : fail(written.error());
}

}  // namespace gpulse::cli
