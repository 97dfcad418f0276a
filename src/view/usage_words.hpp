// SPDX-License-Identifier: Apache-2.0
// What the text and the HTML of a usage report say in the same words. Pure.
#pragma once

#include <string>
#include <vector>

#include "view/usage_report.hpp"

namespace gpulse::view {

// "0.25", "12.5", "140": GPU-hours with as many digits as tell something.
std::string gpu_hours(double seconds);
// An amount that is known of a part of the time only has a mark before it; empty: nothing is known.
std::string active_words(const insight::GpuTime &time, bool unicode);
std::string used_words(const insight::GpuTime &time, bool unicode);
std::string wasted_words(const insight::GpuTime &time, bool unicode);
std::string wasted_share_words(const insight::GpuTime &time);
std::string kwh_words(const insight::GpuTime &time, bool unicode);
// Empty: there is no price, or no energy.
std::string cost_words(const insight::GpuTime &time, const UsageReportOptions &options);

// "5 d 3 h", "42 min".
std::string long_duration(double seconds);
// "recorded 5 d 3 h of 7 d"
std::string recorded_words(const insight::UsageReport &report);
// "USER", "JOB", …; what rows without a name are called.
std::string by_title(insight::UsageBy by);
std::string row_name(const insight::UsageReport &report, const insight::UsageRow &row);
// The job, else the program.
std::string what_words(const insight::UsageWorst &worst);
// What is not known and why, and how the numbers are to be read; a sentence each.
std::vector<std::string> usage_notes(const insight::UsageReport &report, const UsageReportOptions &options);

}  // namespace gpulse::view
