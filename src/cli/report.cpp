// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/output.hpp"
#include "cli/report_source.hpp"
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
  const auto usage = read_usage(options, *span);
  if (!usage) return fail(usage.error().error, usage.error().code);
  const auto report = insight::make_usage_report(*usage, {.by = *by, .top = options.top, .user = options.user});
  const auto written = write_report(options, report);
  return written ? kGood : fail(written.error());
}

}  // namespace gpulse::cli
