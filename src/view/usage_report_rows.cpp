// SPDX-License-Identifier: Apache-2.0
// A usage report for programs: comma-separated values and JSON.
#include <fmt/format.h>

#include <cmath>

#include "base/json_writer.hpp"
#include "insight/catalogue.hpp"
#include "view/csv.hpp"
#include "view/usage_report.hpp"
#include "view/usage_words.hpp"

namespace gpulse::view {

using insight::GpuTime;
using insight::UsageReport;
using insight::UsageSource;

namespace {

constexpr double kHour = 3600, kMillion = 1e6;

double rounded(double value) { return std::round(value * kMillion) / kMillion; }

// A number or none, under the same name in both formats.
struct Amount {
  std::string_view name;
  std::optional<double> value;
};

std::vector<Amount> amounts_of(const GpuTime &time, bool is_held, const UsageReportOptions &options) {
  const auto known = [](double value, double of) { return of > 0 ? std::optional(rounded(value)) : std::nullopt; };
  const auto hours = [&](double value, double of) { return known(value / kHour, of); };
  const bool has_cost = options.price && time.joules_of > 0;
  const double joules = time.joules / insight::kJoulesPerKwh;
  return {{"held_gpu_hours", rounded(time.held / kHour)},
          {"active_gpu_hours", hours(time.active, time.active_of)},
          {"active_known_gpu_hours", rounded(time.active_of / kHour)},
          {"used_gpu_hours", hours(time.used, time.used_of)},
          {"used_known_gpu_hours", rounded(time.used_of / kHour)},
          {"wasted_gpu_hours", is_held ? hours(time.wasted, time.wasted_of) : std::nullopt},
          {"wasted_estimated_gpu_hours", is_held ? std::optional(rounded(time.estimated / kHour)) : std::nullopt},
          {"energy_kwh", known(joules, time.joules_of)},
          {"energy_known_gpu_hours", rounded(time.joules_of / kHour)},
          {"cost", has_cost ? std::optional(rounded(options.price->of(time.joules))) : std::nullopt}};
}

std::string_view word_or_none(const std::optional<insight::FindingId> &id) {
  return id ? insight::word(*id) : std::string_view();
}

void write_text(JsonWriter &json, std::string_view name, std::string_view text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text);
}

void write_amounts(JsonWriter &json, const GpuTime &time, bool is_held, const UsageReportOptions &options) {
  for (const auto &[name, value] : amounts_of(time, is_held, options)) {
    json.key(name);
    value ? json.value(*value) : json.null();
  }
}

void write_total(JsonWriter &json, std::string_view name, const GpuTime &time, bool is_held,
                 const UsageReportOptions &options) {
  json.key(name);
  json.begin_object();
  write_amounts(json, time, is_held, options);
  json.end_object();
}

void write_row(JsonWriter &json, const insight::UsageRow &row, const UsageReportOptions &options) {
  json.begin_object();
  write_text(json, "name", printable(row.name));
  json.member("gpus", std::uint64_t{row.devices});
  write_amounts(json, row.time, true, options);
  write_text(json, "worst_finding", word_or_none(row.worst));
  json.end_object();
}

void write_worst(JsonWriter &json, const insight::UsageWorst &worst, const UsageReportOptions &options) {
  json.begin_object();
  write_text(json, word(insight::UsageBy::user), worst.user);
  write_text(json, "batch_job", worst.job);
  write_text(json, "command_line", worst.command);
  write_text(json, "host", worst.host);
  json.member("gpus", std::uint64_t{worst.devices});
  write_amounts(json, worst.time, true, options);
  write_text(json, "worst_finding", word_or_none(worst.worst));
  json.key("worst_finding_gpu_hours");
  worst.worst ? json.value(rounded(worst.lost / kHour)) : json.null();
  json.end_object();
}

void write_finding(JsonWriter &json, const insight::UsageFinding &finding) {
  const auto hours = [&](std::string_view name, const std::optional<double> &seconds) {
    json.key(name);
    seconds ? json.value(rounded(*seconds / kHour)) : json.null();
  };
  json.begin_object();
  json.member("id", insight::word(finding.id));
  hours("lost_gpu_hours", finding.lost);
  hours("stood_gpu_hours", finding.stood);
  json.key("times");
  finding.times ? json.value(std::uint64_t{*finding.times}) : json.null();
  json.end_object();
}

template <class Range, class Write>
void write_list(JsonWriter &json, std::string_view name, const Range &range, Write write) {
  json.key(name);
  json.begin_array();
  for (const auto &one : range) write(one);
  json.end_array();
}

}  // namespace

std::string usage_report_csv(const UsageReport &report, const UsageReportOptions &options) {
  std::string out = "kind,name,gpus";
  for (const auto &amount : amounts_of({}, true, options)) out.append(",").append(amount.name);
  out += ",currency,worst_finding\n";
  const auto line = [&](std::string_view kind, std::string_view name, std::size_t devices, const GpuTime &time,
                        bool is_held, std::string_view worst) {
    out.append(kind) += ',';
    append_csv_text(out, printable(name));
    out += fmt::format(",{}", devices);
    for (const auto &amount : amounts_of(time, is_held, options)) {
      out += ',';
      if (amount.value) JsonWriter(out).value(*amount.value);
    }
    out += ',';
    if (options.price) append_csv_text(out, options.price->currency.str());
    out.append(",").append(worst) += '\n';
  };
  for (const auto &row : report.rows) {
    line(word(report.by), row.name, row.devices, row.time, true, word_or_none(row.worst));
  }
  if (report.user.empty()) line("nobody", "", report.devices, report.nobody, false, "");
  line("all", "", report.devices, report.held, true, "");
  return out;
}

std::string usage_report_json(const UsageReport &report, const UsageReportOptions &options) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "gpulse.report/1");
  json.member("source", report.source == UsageSource::history ? "history" : "engine");
  json.member("place", report.place.str());
  json.member("from", iso8601_utc(report.from));
  json.member("to", iso8601_utc(report.to));
  json.member("span_seconds", Seconds(report.to - report.from).count());
  json.member("recorded_seconds", rounded(report.recorded_seconds));
  json.member("by", word(report.by));
  write_text(json, "only_user", printable(report.user));
  json.member("hosts", std::uint64_t{report.hosts});
  json.member("gpus", std::uint64_t{report.devices});
  write_text(json, "currency", options.price ? options.price->currency.str() : std::string());
  write_total(json, "held", report.held, true, options);
  if (report.user.empty()) write_total(json, "nobody", report.nobody, false, options);
  write_list(json, "rows", report.rows, [&](const auto &row) { write_row(json, row, options); });
  write_list(json, "worst", report.worst, [&](const auto &worst) { write_worst(json, worst, options); });
  // Whether what findings cost is what they cost alone, or all that was wasted while they stood.
  json.member("findings_are_upper_bounds", report.source == UsageSource::history);
  write_list(json, "findings", report.findings, [&](const auto &finding) { write_finding(json, finding); });
  write_list(json, "notes", usage_notes(report, options),
             [&](const auto &note) { json.value(std::string_view(note)); });
  json.end_object();
  return out + "\n";
}

}  // namespace gpulse::view
