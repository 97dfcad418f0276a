// SPDX-License-Identifier: Apache-2.0
#include "view/usage_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/job_words.hpp"

namespace gpulse::view {

using insight::GpuTime;
using insight::UsageBy;
using insight::UsageReport;
using insight::UsageSource;

namespace {

constexpr double kHour = 3600, kSlack = 1e-6;

std::string digits(double number) { return fixed(number, number < 10 ? 2 : number < 100 ? 1 : 0); }

// Known of less than the whole: what is missing could only add to it.
bool is_partial(double of, double held) { return of < held * (1 - kSlack); }

std::string at_least(double amount, double of, double held, bool unicode) {
  if (of <= 0) return {};
  return (is_partial(of, held) ? (unicode ? "≥" : ">=") : "") + gpu_hours(amount);
}

void add_engine_notes(const UsageReport &report, std::vector<std::string> &notes) {
  const auto &limits = report.limits;
  if (!limits.warning.empty()) {
    notes.push_back(fmt::format("something is missing: the engine says \"{}\"", limits.warning));
  }
  notes.push_back(fmt::format(
      "from an engine: who held a GPU is known every {}, what it did by stretches of {}; owners that follow each other "
      "within one are taken to have used the GPU alike",
      long_duration(limits.resolution_seconds), long_duration(limits.stretch_seconds)));
  notes.emplace_back("an engine knows users and jobs, no programs, and not how often a finding stood");
  if (report.held.joules_of > 0) notes.emplace_back("the energy is as the GPUs count it, or added up from their power");
  if (limits.told_twice > 0) {
    notes.push_back(fmt::format("{} from two instances at the same time, and {} counted twice: see what is scraped",
                                limits.told_twice == 1 ? "1 GPU comes" : fmt::format("{} GPUs come", limits.told_twice),
                                limits.told_twice == 1 ? "is" : "are"));
  }
}

}  // namespace

std::string gpu_hours(double seconds) { return digits(seconds / kHour); }

std::string active_words(const GpuTime &time, bool unicode) {
  return at_least(time.active, time.active_of, time.held, unicode);
}

std::string used_words(const GpuTime &time, bool unicode) {
  return at_least(time.used, time.used_of, time.held, unicode);
}

std::string wasted_words(const GpuTime &time, bool unicode) {
  // Where only the utilisation is known, more may have been wasted.
  const double sure = time.estimated > 0 ? 0 : time.wasted_of;
  if (time.wasted_of <= 0) return {};
  return at_least(time.wasted, std::max(sure, kSlack), time.held, unicode);
}

std::string wasted_share_words(const GpuTime &time) {
  return time.wasted_of > 0 ? fixed(100 * time.wasted / time.wasted_of, 0) + "%" : std::string();
}

std::string kwh_words(const GpuTime &time, bool unicode) {
  if (time.joules_of <= 0) return {};
  const auto mark = is_partial(time.joules_of, time.held) ? (unicode ? "≥" : ">=") : "";
  return mark + digits(time.joules / insight::kJoulesPerKwh);
}

std::string cost_words(const GpuTime &time, const UsageReportOptions &options) {
  if (!options.price || time.joules_of <= 0) return {};
  return fixed(options.price->of(time.joules), 2);
}

std::string long_duration(double seconds) {
  constexpr double kDay = 24 * kHour;
  // From a day on, to the hour.
  const double unit = seconds < kDay - kHour / 2 ? 60 : kHour;
  const auto minutes = static_cast<std::int64_t>(std::round(seconds / unit) * unit / 60);
  const auto days = minutes / 1440, hours = minutes / 60 % 24;
  const auto both = [](std::int64_t large, const char *one, std::int64_t small, const char *two) {
    return small == 0 ? fmt::format("{} {}", large, one) : fmt::format("{} {} {} {}", large, one, small, two);
  };
  if (days > 0) return both(days, "d", hours, "h");
  if (hours > 0) return both(hours, "h", minutes % 60, "min");
  return minutes > 0 ? fmt::format("{} min", minutes) : fmt::format("{:.0f} s", seconds);
}

std::string recorded_words(const UsageReport &report) {
  return fmt::format("recorded {} of {}", long_duration(report.recorded_seconds),
                     long_duration(Seconds(report.to - report.from).count()));
}

std::string by_title(UsageBy by) {
  auto title = std::string(word(by));
  std::ranges::transform(title, title.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  return title;
}

std::string row_name(const UsageReport &report, const insight::UsageRow &row) {
  if (!row.name.empty()) return row.name;
  return fmt::format("(no {})", word(report.by));
}

std::string what_words(const insight::UsageWorst &worst) {
  if (!worst.job.empty()) return worst.job;
  return worst.command.empty() ? std::string("(no job)") : worst.command.str();
}

std::vector<std::string> usage_notes(const UsageReport &report, const UsageReportOptions &options) {
  std::vector<std::string> notes;
  const auto &held = report.held;
  const auto unknown = [&](double of, std::string_view what) {
    if (!is_partial(of, held.held)) return;
    notes.push_back(fmt::format("{} is not known of {} of {} GPU-hours held", what, gpu_hours(held.held - of),
                                gpu_hours(held.held)));
  };
  unknown(held.active_of, "GPU utilisation");
  unknown(held.used_of, "true activity (SM)");
  if (held.estimated > 0) {
    notes.push_back(
        fmt::format("what was wasted of {} GPU-hours is told by utilisation alone, which hides a part of it",
                    gpu_hours(held.estimated)));
  }
  unknown(held.joules_of, "energy");
  if (held.added_up > 0) {
    notes.push_back(fmt::format("the energy of {} GPU-hours is added up from the power", gpu_hours(held.added_up)));
  }
  if (report.nobody.active > 60) {
    notes.push_back(fmt::format("GPUs were busy for {} GPU-hours in which no process was seen on them",
                                gpu_hours(report.nobody.active)));
  }
  if (!options.price && held.joules_of > 0) {
    notes.emplace_back("no cost: the price of a kWh is not configured (--price '0.30 EUR', or [report] price)");
  }
  if (!report.findings.empty() && report.source == UsageSource::history) {
    notes.emplace_back(
        "a history knows when a finding stood, not what it alone cost: that is at most what was wasted meanwhile, and "
        "findings that stood together count the same hours");
  }
  if (report.source == UsageSource::engine) add_engine_notes(report, notes);
  return notes;
}

}  // namespace gpulse::view
