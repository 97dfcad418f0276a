// SPDX-License-Identifier: Apache-2.0
// The report of a job that `gpulse run` ends with: for a terminal, as JSON ("gpulse.run/1") and as one HTML file with
// plots that needs nothing else. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "insight/job_price.hpp"
#include "insight/job_report.hpp"
#include "term/style.hpp"

namespace gpulse::view {

struct JobReportOptions {
  term::Style style{};
  std::optional<insight::Price> price{};
};

// What files of ours begin with.
inline constexpr std::string_view kJobJsonHead = R"({"schema":"gpulse.run/1")";
inline constexpr std::string_view kJobHtmlHead = "<!doctype html><!-- gpulse.run/1 -->";

// Lines, each ended by a newline, none wider than the style.
std::string render_job_report(const insight::JobReport &report, const JobReportOptions &options);
std::string job_report_json(const insight::JobReport &report, const JobReportOptions &options);
std::string job_report_html(const insight::JobReport &report, const JobReportOptions &options);

}  // namespace gpulse::view
