// SPDX-License-Identifier: Apache-2.0
// What GPUs were used for, and what was wasted: for a terminal, as comma-separated values, as JSON ("gpulse.report/1")
// and as one HTML file that needs nothing else. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "insight/job_price.hpp"
#include "insight/usage.hpp"
#include "term/style.hpp"

namespace gpulse::view {

struct UsageReportOptions {
  term::Style style{};
  std::optional<insight::Price> price{};
};

// What files of ours begin with.
inline constexpr std::string_view kUsageHtmlHead = "<!doctype html><!-- gpulse.report/1 -->";

// Lines, each ended by a newline, none wider than the style.
std::string render_usage_report(const insight::UsageReport &report, const UsageReportOptions &options);
// A line for each row, one for the time in which nobody held a GPU, and one for all that was held.
std::string usage_report_csv(const insight::UsageReport &report, const UsageReportOptions &options);
std::string usage_report_json(const insight::UsageReport &report, const UsageReportOptions &options);
std::string usage_report_html(const insight::UsageReport &report, const UsageReportOptions &options);

}  // namespace gpulse::view
